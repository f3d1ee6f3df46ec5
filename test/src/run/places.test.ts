import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findPlaces, refuseLinks } from '../../../src/run/places.js';
import { folderWith } from '../../fixtures/tiny-release.js';

/** A folder with these files, each with nothing in it. */
function folderOf(...files: string[]): string {
  const folder = folderWith({});
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  return folder;
}

const shown = (...roots: string[]) =>
  [...findPlaces(roots).values()].map(({ key, kind, within }) => [key, kind, ...(within ? [within] : [])].join(' '));

describe('what is shown', () => {
  test('runs with their evaluations, evaluations of others, and sweeps with their trials', () => {
    const runs = folderOf(
      'umls/config.yaml',
      'umls/evaluations/valid-best-1/evaluation.json',
      'umls/checkpoints/config.yaml',
      'evaluations/fiske-1/asked.json',
      'sweep-1/sweep.json',
      'sweep-1/trial-001-s1/config.yaml',
      'notes/readme.txt',
    );
    expect(shown(runs)).toEqual([
      'evaluations/fiske-1 evaluation',
      'sweep-1 sweep',
      'sweep-1/trial-001-s1 run sweep-1',
      'umls run',
      'umls/evaluations/valid-best-1 evaluation umls',
    ]);
  });

  test('a run that is named itself, and of two of one name both', () => {
    const [one, other] = [folderOf('a/config.yaml'), folderOf('a/config.yaml')];
    expect(shown(join(one, 'a'))).toEqual(['a run']);
    expect(shown(one, other, one)).toEqual(['a run', 'a~2 run']);
  });

  test('nothing for a folder that is not there', () => expect(shown('/nonexistent')).toEqual([]));

  test('nothing that a link leads to, be it a folder or a file', () => {
    const elsewhere = folderOf('secret/config.yaml');
    const runs = folderOf('own/config.yaml', 'half/other');
    symlinkSync(join(elsewhere, 'secret'), join(runs, 'linked'));
    symlinkSync(join(elsewhere, 'secret/config.yaml'), join(runs, 'half/config.yaml'));
    expect(shown(runs)).toEqual(['own run']);
    expect(() => refuseLinks([join(runs, 'half/config.yaml')])).toThrow(/expected a file, got a link/);
  });

  test('a link that was named, for its owner meant it', () => {
    const runs = folderOf('a/config.yaml');
    const link = join(folderWith({}), 'runs');
    symlinkSync(runs, link);
    expect(shown(link)).toEqual(['a run']);
  });
});

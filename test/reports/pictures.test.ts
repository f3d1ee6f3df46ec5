/** Charts on machines without fonts. Runs the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { env, execPath } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { longTest } from '../fixtures/long-tests.js';
import { folderWith } from '../fixtures/tiny-release.js';

const bare = { ...env, DISABLE_SYSTEM_FONTS_LOAD: '1', KGWALK_RUNS: '' };
const built = (file: string) => JSON.stringify(pathToFileURL(resolve('dist', 'reports', file)));

/** Output of a program in a separate process: fonts are global to a process. */
function printed(code: string, fonts: NodeJS.ProcessEnv): string {
  const { stdout, stderr } = spawnSync(execPath, ['--input-type=module', '-e', code], { env: fonts, encoding: 'utf8' });
  return stdout || stderr;
}

const drawing = `
  import { createHash } from 'node:crypto';
  const { renderPng } = await import(${built('pictures.js')});
  const { font } = await import(${built('plots/chart.js')});
  const title = { display: true, text: 'Łódź → 61.2 % ± 1.7, Ωмир', font: { family: font, size: 13, weight: 'bold' } };
  const axes = { x: { ticks: { font: { family: font, size: 12 } } } };
  const data = { labels: ['random', 'PPO'], datasets: [{ data: [1, 3] }] };
  const options = { animation: false, scales: axes, plugins: { title } };
  const picture = await renderPng({ type: 'bar', data, options }, { width: 300, height: 200 }, '#ffffff');
  console.log(createHash('sha256').update(picture).digest('hex'));`;

describe('a chart', () => {
  test('is the same picture on a machine with fonts and on one without', () => {
    const picture = printed(drawing, bare);
    expect(picture).toMatch(/^[0-9a-f]{64}\n$/);
    expect(printed(drawing, env)).toBe(picture);
  });

  test('has letters of Chinese, Japanese and Korean from the machine alone', () => {
    const code = `const { tryCanvas } = await import(${built('pictures.js')}); console.log(await tryCanvas());`;
    expect(printed(code, bare)).toBe("[ 'Chinese', 'Japanese', 'Korean' ]\n");
  });
});

describe('an installation that lost its fonts, where the machine has none', () => {
  const home = folderWith({});
  const main = join(home, 'package', 'dist', 'cli', 'main.js');
  const kgwalk = (...words: string[]) =>
    spawnSync(execPath, ['--preserve-symlinks', '--preserve-symlinks-main', main, ...words], {
      ...{ cwd: home, env: { ...bare, KGWALK_HOME: home }, encoding: 'utf8' },
    });

  beforeAll(() => {
    mkdirSync(join(home, 'package'));
    cpSync('package.json', join(home, 'package', 'package.json'));
    for (const part of ['dist', 'node_modules', 'presets', 'models', 'datasets']) {
      symlinkSync(resolve(part), join(home, 'package', part));
    }
  });

  longTest('is seen by the doctor, who says what to do', () => {
    const findings = JSON.parse(kgwalk('doctor', '--json').stdout) as Record<string, string>[];
    const charts = findings.find(({ part }) => part === 'chartjs-node-canvas')!;
    expect(charts).toMatchObject({ status: 'missing', detail: expect.stringContaining('no font that it reads at') });
    expect(charts.remedy).toContain('Install kgwalk again');
  });

  test('is seen by the quickstart before its first step', () => {
    const { status, stderr } = kgwalk('quickstart', '--no-open');
    expect(status).toBe(4);
    expect(stderr).toContain('expected a canvas to draw charts on, got no font that it reads');
    expect(existsSync(join(home, 'runs'))).toBe(false);
  });
});

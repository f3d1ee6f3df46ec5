/** Every package that is installed: its licence, what it runs at install, and that docs/dependencies.md tells of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript, shared with the lint configuration
import * as rules from '../layers.js';

const { layers } = rules as { layers: string[] };

interface Locked {
  dev?: boolean;
  link?: boolean;
  license?: string;
  integrity?: string;
  hasInstallScript?: boolean;
}

interface Manifest {
  license?: string;
  scripts?: Record<string, string>;
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown;

const own = readJson('package.json') as Record<string, Record<string, string> | undefined>;
const { packages } = readJson('package-lock.json') as { packages: Record<string, Locked> };
const locked = Object.entries(packages).filter(([place]) => place.startsWith('node_modules/'));
const installed = locked.flatMap(([place, entry]) => {
  const file = join(place, 'package.json');
  return existsSync(file) ? [{ place, entry, manifest: readJson(file) as Manifest }] : [];
});
const page = readFileSync('docs/dependencies.md', 'utf8');

/** The cells of the page's tables, row by row; names of packages stand in the first. */
const rows = page.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|').slice(1)] : []));

describe('the page of dependencies', () => {
  const direct = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies'].flatMap((kind) =>
    Object.keys(own[kind] ?? {}),
  );

  test.each([...new Set(direct)])('names %s with the licence that it states', (name) => {
    const { license } = readJson(join('node_modules', name, 'package.json')) as Manifest;
    const stated = rows.filter(([names]) => names!.includes(`\`${name}\``)).map((cells) => cells[1]!.trim());
    expect(stated).toContain(license);
  });

  test('counts all others', () => {
    const shipped = locked.filter(([, { dev }]) => !dev).length;
    expect(page).toContain(`**${shipped} packages** come with kgwalk`);
    expect(page).toContain(`there are **${locked.length}**`);
  });
});

describe('a package', () => {
  test('comes under a licence that lets everybody use it, as installed and as locked', () => {
    const open = /^\(?((0BSD|MIT|ISC|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|CC0-1\.0)( (AND|OR) (?!\)|$)|\)?$))+$/;
    const named = [
      'node_modules/caniuse-lite: CC-BY-4.0',
      'node_modules/markdown-it/node_modules/argparse: Python-2.0',
    ];
    const licences = [
      ...installed.map(({ place, manifest }) => [place, manifest.license] as const),
      ...locked.flatMap(([place, { license }]) => (license === undefined ? [] : [[place, license] as const])),
    ];
    const others = licences.filter(([, licence]) => !open.test(licence ?? 'none'));
    expect([...new Set(others.map(([place, licence]) => `${place}: ${licence}`))]).toEqual(named);
  });

  test('runs nothing at install, but for those that the page names', () => {
    const scripts = ['preinstall', 'install', 'postinstall'];
    const running = installed.filter(
      ({ place, manifest }) =>
        scripts.some((name) => manifest.scripts?.[name]) || existsSync(join(place, 'binding.gyp')),
    );
    const told = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place);
    const names = [...new Set([...running.map(({ place }) => place), ...told])].map((place) => place.slice(13)).sort();
    expect(names).toEqual([
      '@parcel/watcher',
      '@swc/core',
      '@tensorflow/tfjs-node-gpu',
      'core-js',
      'lmdb',
      'msgpackr-extract',
      'node-llama-cpp',
      'webgpu',
    ]);
    const [, atInstall] = page
      .split('## At install')[1]!
      .split('## ')[0]!
      .match(/^([\s\S]*)$/)!;
    for (const name of names) expect(atInstall).toContain(`\`${name}\``);
  });

  test('runs nothing at install in a clone at all', () => {
    expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
  });

  test('that is installed has a hash in the lock file', () => {
    const without = installed.filter(({ entry }) => !entry.link && entry.integrity === undefined);
    expect(without.map(({ place }) => place)).toEqual([]);
  });
});

test('what ships imports no package that only development brings', () => {
  const folders = new Set([...layers.map((layer) => layer.split('/')[0]!), 'reports']);
  const shipped = [...folders]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts') && !file.startsWith(join('src', 'simd', 'assembly')));
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies'];
  const brought = new Set(['kgwalk', ...kinds.flatMap((kind) => Object.keys(own[kind] ?? {}))]);
  const named = /(?:\bfrom|\bimport)\s*\(?\s*'((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^']*)?'/g;
  const others = shipped.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(named)].flatMap(([, name]) =>
      brought.has(name!) ? [] : `${file}: ${name}`,
    ),
  );
  expect(shipped.length).toBeGreaterThan(300);
  expect(others).toEqual([]);
});

test.each(['node-llama-cpp', 'lmdb', '@napi-rs/canvas'])(
  'the small install names the binary that %s asks for',
  (name) => {
    const asked = readJson(join('node_modules', name, 'package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const command = /^npm install --omit=optional kgwalk .*$/m.exec(page)![0].split(' ').slice(4);
    const named = command.map((word) => word.split(/(?<=.)@/) as [string, string]);
    expect(named.filter(([binary, version]) => asked.optionalDependencies[binary] === version)).toHaveLength(1);
  },
);

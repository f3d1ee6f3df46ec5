/** Every package that is installed: its licence, what it runs at install, and its entry in docs/reference/dependencies.md. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript, shared with the lint configuration
import * as rules from '../layers.js';

const { layers } = rules as { layers: string[] };

interface Locked {
  name?: string;
  version: string;
  dev?: boolean;
  /** True for an optional peer. */
  devOptional?: boolean;
  link?: boolean;
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
const page = readFileSync('docs/reference/dependencies.md', 'utf8');

/** Names of packages and their licence, line by line of the page's lists. */
const listed = [...page.matchAll(/^- (`.+`) \(([^)]+)\): /gm)];

describe('the page of dependencies', () => {
  const direct = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies'].flatMap((kind) =>
    Object.keys(own[kind] ?? {}),
  );

  test.each([...new Set(direct)])('names %s with the licence that it states', (name) => {
    const { license } = readJson(join('node_modules', name, 'package.json')) as Manifest;
    const stated = listed.filter(([, names]) => names!.includes(`\`${name}\``)).map(([, , licence]) => licence);
    expect(stated).toContain(license);
  });

  test('counts all others', () => {
    const shipped = locked.filter(([, { dev, devOptional }]) => !dev && !devOptional).length;
    expect(page).toContain(`**${shipped} packages** come with kgwalk`);
    expect(page).toContain(`there are **${locked.length}**`);
  });
});

/** `npm run sbom -- FILE` in a folder with a lock file. */
function billOf(folder = '.') {
  const file = join(mkdtempSync(join(tmpdir(), 'kgwalk-sbom-')), 'kgwalk.cdx.json');
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'sbom', '--', file], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, bytes: readFileSync(file, 'utf8') };
}

interface Bill {
  bomFormat: string;
  components: { name: string; version: string; hashes?: object[]; licenses?: object[] }[];
}

describe('the bill of materials', () => {
  test('names every package of the lock file, comes out the same twice, and all licences let everybody use them', () => {
    const { status, stdout, bytes } = billOf();
    expect([status, stdout]).toEqual([0, expect.not.stringContaining('not on the list')]);
    const { bomFormat, components } = JSON.parse(bytes) as Bill;
    expect(bomFormat).toBe('CycloneDX');
    // For an aliased package, npm lists sometimes its real name, sometimes the alias.
    const isIn = (set: Set<string>, [place, { name, version }]: [string, Locked]) =>
      [name, place.split('node_modules/').at(-1)].some((one) => set.has(`${one}@${version}`));
    const namesOf = (some: Bill['components']) => new Set(some.map(({ name, version }) => `${name}@${version}`));
    const packed = locked.filter(([, { link }]) => !link);
    expect(packed.filter((one) => !isIn(namesOf(components), one))).toEqual([]);
    const described = namesOf(components.filter(({ hashes, licenses }) => hashes && licenses));
    expect(packed.filter((one) => existsSync(one[0]) && !isIn(described, one))).toEqual([]);
    expect(billOf().bytes).toBe(bytes);
  });

  test('a licence that is not on the list is named and fails', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kgwalk-licence-'));
    const root = { name: 'x', version: '1.0.0', dependencies: { closed: '1.0.0', open: '1.0.0' } };
    const packages = {
      '': root,
      'node_modules/closed': { version: '1.0.0', license: '(MIT AND SSPL-1.0)' },
      'node_modules/open': { version: '1.0.0', license: '(MIT OR Apache-2.0)' },
    };
    const scripts = { sbom: `node ${resolve('.ci/sbom.js')}` };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...root, scripts }));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...root, lockfileVersion: 3, packages }));
    const { status, stdout } = billOf(folder);
    expect(status).toBe(1);
    expect(stdout.match(/^not on the list: .*$/gm)).toEqual([
      'not on the list: node_modules/closed: (MIT AND SSPL-1.0)',
    ]);
  });
});

describe('a package', () => {
  test('runs nothing at install, but for those that the page names', () => {
    const scripts = ['preinstall', 'install', 'postinstall'];
    const running = installed.filter(
      ({ place, manifest }) =>
        scripts.some((name) => manifest.scripts?.[name]) || existsSync(join(place, 'binding.gyp')),
    );
    const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place);
    const names = [...new Set([...running.map(({ place }) => place), ...withScripts])]
      .map((place) => place.slice(13))
      .sort();
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
    const atInstall = page.split('## Install variants')[1]!.split('## ')[0]!;
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
    .filter((file) => file.endsWith('.ts') && !file.startsWith(join('src', 'nn', 'simd', 'assembly')));
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies'];
  const brought = new Set(['kgwalk', ...kinds.flatMap((kind) => Object.keys(own[kind] ?? {}))]);
  const named = /(?<!\.)(?:\bfrom|\bimport)\s*\(?\s*'((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^']*)?'/g;
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

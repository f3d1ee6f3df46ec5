/** Contents of the installed package. Reads `dist`: `npm test` builds it first. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process, { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { nodeSupport } from '../src/run/environment.js';
import { parseCommand } from './docs/parse-command.js';

interface Manifest {
  exports: Record<string, string | { types: string; default: string }>;
  bin: Record<string, string>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const entries = Object.entries(manifest.exports).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [{ name: name.replace('.', 'kgwalk'), ...target }],
);

describe('the library', () => {
  test('has code and types behind every entry', () => {
    const targets = [...Object.values(manifest.bin), ...entries.flatMap((entry) => [entry.types, entry.default])];
    expect(targets.filter((target) => !existsSync(target))).toEqual([]);
  });

  test('loads every entry by its public name', () => {
    const code = entries
      .map(({ name }) => `if (!Object.keys(await import('${name}')).length) throw '${name}';`)
      .join('');
    const { status, stderr } = spawnSync(execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('has types that compile in an empty project, those of libraries checked', () => {
    const project = mkdtempSync(join(tmpdir(), 'kgwalk-types-'));
    const modules = join(project, 'node_modules');
    for (const folder of ['kgwalk', '@types']) mkdirSync(join(modules, folder), { recursive: true });
    for (const part of ['dist', 'package.json']) symlinkSync(resolve(part), join(modules, 'kgwalk', part));
    symlinkSync(resolve('node_modules/@types/node'), join(modules, '@types/node'));
    const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, skipLibCheck: false, noEmit: true };
    const files: Record<string, string> = {
      'package.json': '{"type": "module"}',
      'tsconfig.json': JSON.stringify({ compilerOptions, files: ['all.ts'] }),
      'all.ts': entries.map(({ name }, i) => `export * as entry${i} from '${name}';`).join('\n'),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    const { status, stdout } = spawnSync(execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', project], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});

describe('the tarball', () => {
  /** Output of `npm pack` under another umask. */
  function pack(umask: number) {
    const folder = mkdtempSync(join(tmpdir(), 'kgwalk-pack-'));
    const before = process.umask(umask);
    const json = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    process.umask(before);
    const [packed] = JSON.parse(json) as [{ files: { path: string }[]; size: number; filename: string }];
    return { ...packed, bytes: readFileSync(join(folder, packed.filename)) };
  }
  const packed = pack(0o022);
  const paths = packed.files.map((file) => file.path);

  test('comes out the same, byte by byte, when it is made again', () => {
    expect(packed.bytes.equals(pack(0o077).bytes)).toBe(true);
  });

  test('holds the program, the presets and what must be read first', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['dist/cli/main.js', 'presets/opendialkg.yaml', 'README.md', 'LICENSE', 'CHANGELOG.md']),
    );
    expect(paths.filter((path) => path.startsWith('reports/'))).toEqual(
      ['Inter-Bold.woff2', 'Inter-Regular.woff2', 'OFL.txt'].map((file) => `reports/fonts/${file}`),
    );
    expect(paths.filter((path) => path.startsWith('datasets/'))).toEqual([
      ...['names', 'relations', 'talk'].map((words) => `datasets/demo/words/${words}.yaml`),
      'datasets/generated/phrases.yaml',
    ]);
  });

  test('brings the canvas that chartjs-node-canvas finds, as overrides do not reach who installs it', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['node_modules/canvas/index.js', 'node_modules/chartjs-node-canvas/package.json']),
    );
    expect(paths.filter((path) => path.endsWith('.node'))).toEqual([]);
  });

  test('holds no tests, sources of the parts or build records, and stays small', () => {
    const own = paths.filter((path) => !path.startsWith('node_modules/'));
    expect(own.filter((path) => /^(test|src|cli|bench|runs)\/|\.tsbuildinfo$/.test(path))).toEqual([]);
    // Most of it is the embedded model.
    expect(packed.size).toBeLessThan(10 * 2 ** 20);
  });
});

test('the workers of compose.yaml are commands of the program, over packages that it may have, and nothing listens to other machines', async () => {
  const { services } = parse(readFileSync('compose.yaml', 'utf8')) as {
    services: Record<string, { command?: string[]; ports?: string[]; build?: { args: { WITH: string } } }>;
  };
  const { command, build } = services.worker!;
  expect(await parseCommand(command!)).toMatchObject({
    queue: 'redis://queue:6379',
    store: 's3://results',
    wait: true,
  });
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { peerDependencies: object };
  expect(Object.keys(peerDependencies)).toEqual(expect.arrayContaining(build!.args.WITH.split(' ')));
  expect(readFileSync('Dockerfile', 'utf8')).toMatch(/^ARG WITH=""$[^]*kgwalk\.tgz \$WITH/m);
  const ports = Object.values(services).flatMap((service) => service.ports ?? []);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

test('the image of the Dockerfile runs a supported Node as a user who may change nothing but the data', () => {
  const lines = readFileSync('Dockerfile', 'utf8').split('\n');
  const majors = lines.flatMap((line) => /^FROM node:(\d+)-/.exec(line)?.[1] ?? []);
  expect(majors.length).toBe(2);
  expect(majors.filter((major) => !nodeSupport(`${major}.99.0`).supported)).toEqual([]);
  expect(lines.filter((line) => /^(USER|VOLUME|ENTRYPOINT)/.test(line))).toEqual([
    'VOLUME /data',
    'USER node',
    'ENTRYPOINT ["kgwalk"]',
  ]);
  const [, module] = /kgwalk\/(dist\/[\w/]+\.js)'/.exec(lines.join('\n'))!;
  expect(existsSync(module!)).toBe(true);
});

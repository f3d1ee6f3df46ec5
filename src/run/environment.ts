/** Environment of a run: versions, machine, backend, hashes and command. */
import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { arch, argv, platform, report, versions } from 'node:process';
import { packageRoot } from './locations.js';
import { loadedPlugins } from './plugins.js';
import type { EnvironmentRecord } from './records.js';
import { masked } from './secrets.js';

/** Packages that affect numbers. */
const packages = [
  '@tensorflow/tfjs-core',
  '@tensorflow/tfjs-backend-wasm',
  '@tensorflow/tfjs-node-gpu',
  'node-llama-cpp',
  'apache-arrow',
  'pure-rand',
];

interface EnvironmentFacts {
  configHash: string;
  backend?: string;
  threads?: number;
  hashes?: Record<string, string>;
  /** Default: this process's arguments, without node and the script's folder. Secrets are masked. */
  argv?: readonly string[];
  started?: Date;
}

/** Collects the environment record; reads package manifests without loading the packages. */
export function collectEnvironment(facts: EnvironmentFacts): EnvironmentRecord {
  const installed = packages.flatMap((name) => {
    const version = packageVersion(name);
    return version === undefined ? [] : [[name, version] as const];
  });
  const processors = cpus();
  const plugins = loadedPlugins().map(({ file, sha256 }) => ({ file, sha256 }));
  return {
    schemaVersion: 1,
    started: (facts.started ?? new Date()).toISOString(),
    argv: (facts.argv ?? argv.slice(2)).map((word) => masked(word)),
    versions: { kgwalk: kgwalkVersion(), node: versions.node, ...Object.fromEntries(installed) },
    platform: `${platform}-${arch}`,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    ...(facts.backend !== undefined && { backend: facts.backend }),
    ...(facts.threads !== undefined && { threads: facts.threads }),
    configHash: facts.configHash,
    hashes: facts.hashes ?? {},
    ...(plugins.length > 0 && { plugins }),
  };
}

/** The version of this package. */
export const kgwalkVersion = (): string => readManifest(join(packageRoot(), 'package.json'))?.version ?? 'unknown';

/**
 * Compares a version of Node with the `engines` of this package.
 * @param version default: of this process
 * @returns `range` in words, such as `22.12 to 26`
 */
export function nodeSupport(version: string = versions.node) {
  const { engines } = readManifest(join(packageRoot(), 'package.json'))!;
  const [, first, below] = /^>=(\d+\.\d+) <(\d+)$/.exec(engines!.node)!;
  const [major, minor] = version.split('.').map(Number) as [number, number];
  const [firstMajor, firstMinor] = first!.split('.').map(Number) as [number, number];
  const tooOld = major < firstMajor || (major === firstMajor && minor < firstMinor);
  return { tooOld, supported: !tooOld && major < Number(below), range: `${first} to ${Number(below) - 1}` };
}

/** Version of an installed package, resolved as node does, or undefined. Nothing is loaded. */
export function packageVersion(name: string, from: string = packageRoot()): string | undefined {
  return packageManifest(name, from)?.version;
}

/**
 * Packages with the compiled parts of an installed package for this system, without those for GPUs, that are not
 * installed: `name@version`.
 * @param from folder to look from, default this package’s
 */
export function missingBinaries(name: string, from: string = packageRoot()): string[] {
  const systems: Partial<Record<NodeJS.Platform, string>> = { darwin: 'darwin|mac', win32: 'win32|win' };
  const gnu = (report?.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime;
  const fits = new RegExp(
    `[-/](?:${systems[platform] ?? platform})-${arch}(?:-metal|-msvc|${gnu === undefined ? '-musl' : '-gnu'})?$`,
  );
  return Object.entries(packageManifest(name, from)?.optionalDependencies ?? {}).flatMap(([binary, version]) =>
    fits.test(binary) && packageVersion(binary, from) === undefined ? [`${binary}@${version}`] : [],
  );
}

type Manifest = { version?: string; engines?: { node: string }; optionalDependencies?: Record<string, string> };

function packageManifest(name: string, from: string): Manifest | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const manifest = readManifest(join(folder, 'node_modules', name, 'package.json'));
    if (manifest !== undefined || folder === dirname(folder)) return manifest;
  }
}

function readManifest(file: string): Manifest | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined;
}

/** Checks of `kgwalk doctor`. Each returns a result; none throws. */
import { mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { availableParallelism, cpus, freemem, totalmem } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { arch, constrainedMemory, platform, versions } from 'node:process';
import { listDatasets } from '../datasets/dataset.js';
import { downloadedModels, embeddedModelFile } from '../src/llm/model-files.js';
import { WorkbenchError } from '../src/run/errors.js';
import { missingBinaries, nodeSupport, packageVersion } from '../src/run/environment.js';
import { kgwalkHome, modelsFolder, packageRoot, runsFolder } from '../src/run/locations.js';
import { autoOrder, executorNames, type ExecutorProbe, probeExecutor } from '../src/nn/open-executor.js';
import { WebGpuExecutor } from '../src/nn/webgpu/executor.js';
import { bytesIn, existingPart, freeBytes } from '../src/run/files.js';
import { megabytes } from './models/files.js';

/** One line of the diagnosis. */
export interface Finding {
  part: string;
  /** Without a `missing` part something that kgwalk is installed for fails; without an `optional` one nothing does. */
  status: 'ok' | 'missing' | 'optional';
  detail: string;
  remedy?: string;
}

/** Runs all checks in order; takes a second or two, as it loads every native part. */
export async function diagnose(): Promise<Finding[]> {
  const findings = [node(), machine()];
  findings.push(...(await backends()));
  findings.push(await llama());
  findings.push(await lmdb(), await charts());
  findings.push(embedded(), downloads(), dataHome(), disk('home', kgwalkHome()), disk('runs', runsFolder()));
  findings.push(installed());
  return findings;
}

function node(): Finding {
  const detail = `${versions.node} on ${platform}-${arch}`;
  const { supported, range } = nodeSupport();
  if (supported) return ok('node', detail);
  const remedy = `kgwalk is tested on Node ${range}: install one of them`;
  return missing('node', `${detail}, not supported`, remedy);
}

function machine(): Finding {
  // In a container its limit counts; a limit above the machine's memory means none.
  const total = Math.min(totalmem(), constrainedMemory() || Infinity);
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = `${gib(total)} memory, ${gib(Math.min(freemem(), total))} free`;
  return ok('machine', `${availableParallelism()} cores (${model}), ${memory}`);
}

/** Every backend, and the choice of `auto`. */
async function backends(): Promise<Finding[]> {
  const probes: ExecutorProbe[] = [];
  for (const name of executorNames) probes.push(await probeExecutor(name));
  const taken = probes.filter(({ found }) => found).map(({ name }) => name);
  const choices = sizesOfAuto.map(
    ({ size, what }) => `${autoOrder(size).names.find((name) => taken.includes(name)) ?? 'none'} for ${what}`,
  );
  return [
    ...probes.map(({ name, found, reason, remedy, executor }) => {
      const card = executor instanceof WebGpuExecutor ? `${executor.device.name}, ` : '';
      if (found) return ok(`backend ${name}`, `${card}${reason}`);
      return (name === 'simd' ? missing : optional)(`backend ${name}`, reason, remedy);
    }),
    ok('backend auto', `${choices.join(', ')} networks`),
  ];
}

const sizesOfAuto = [
  { what: 'small', size: { rows: 1, inputs: 1, units: 1 } },
  { what: 'larger', size: { rows: 1000, inputs: 100, units: 100 } },
  { what: 'the largest', size: { rows: 1000, inputs: 1000, units: 1000 } },
];

const llama = () =>
  tried('node-llama-cpp', 'node-llama-cpp', async () => {
    const { getLlama, LlamaLogLevel } = await import('node-llama-cpp');
    const engine = await getLlama({ build: 'never', logLevel: LlamaLogLevel.disabled });
    await engine.dispose();
    return engine.gpu === false ? 'no GPU, runs on the processor' : `GPU by ${engine.gpu}`;
  });

const lmdb = () =>
  tried('lmdb', 'lmdb', async () => {
    await import('lmdb');
    return 'the cache of encoded texts';
  });

/** Draws a picture: a canvas can load and still leave pictures blank. */
const charts = () =>
  tried('chartjs-node-canvas', '@napi-rs/canvas', async () => {
    const { tryCanvas } = await import('../reports/pictures.js');
    const boxes = await tryCanvas();
    return `draws charts${boxes.length > 0 ? `; no font for ${boxes.join(', ')}: boxes in pictures` : ''}`;
  });

/** Tries a package. @param binaries package with its compiled parts @param use what it does here */
async function tried(part: string, binaries: string, use: () => Promise<string>): Promise<Finding> {
  const version = packageVersion(part) ?? 'not installed';
  try {
    return ok(part, `${version}, ${await use()}`);
  } catch (error) {
    const hint = error instanceof WorkbenchError ? error.hint : undefined;
    const remedy = binariesRemedy(binaries) ?? hint ?? 'npm install again without --omit=optional';
    return missing(part, `${version}: ${firstLine(error)}`, remedy);
  }
}

const finding = (status: Finding['status']) => (part: string, detail: string, remedy?: string) => ({
  ...{ part, status, detail },
  ...(remedy !== undefined && { remedy }),
});
const ok = finding('ok');
const missing = finding('missing');
const optional = finding('optional');

/** Command that installs the compiled parts of a package, and no others. */
function binariesRemedy(name: string): string | undefined {
  const names = missingBinaries(name);
  return names.length > 0 ? `npm install --omit=optional ${names.join(' ')}` : undefined;
}

function embedded(): Finding {
  const file = embeddedModelFile();
  if (file !== undefined) return ok('model demo', `${megabytes(statSync(file).size)} MB, comes with the package`);
  const remedy = 'install the package again, or train it: npm run models:demo';
  return missing('model demo', 'not in this installation', remedy);
}

function downloads(): Finding {
  const names = downloadedModels();
  if (names.length > 0) return ok('models', `${names.join(', ')} in ${modelsFolder()}`);
  return optional('models', 'none downloaded', 'kgwalk models list shows some');
}

function dataHome(): Finding {
  const imported = (['dialogues', 'questions'] as const).flatMap((kind) =>
    listDatasets([kind]).map(({ name }) => name),
  );
  if (imported.length > 0) return ok('data', `${imported.join(', ')} in ${kgwalkHome()}`);
  const remedy = 'kgwalk datasets demo, or kgwalk datasets get opendialkg';
  return optional('data', `nothing imported in ${kgwalkHome()}`, remedy);
}

/** Free space at `folder` and write access, tested by writing, since permissions do not reveal read-only mounts. */
function disk(part: string, folder: string): Finding {
  const place = existingPart(folder);
  try {
    const tried = mkdtempSync(join(place, '.kgwalk-doctor-'));
    rmdirSync(tried);
    return ok(`disk ${part}`, `${gib(freeBytes(folder))} free at ${folder}`);
  } catch (error) {
    const remedy =
      part === 'home'
        ? 'name another folder: KGWALK_HOME=DIR'
        : 'work in a folder of yours, or name one: KGWALK_RUNS=DIR, --run-dir DIR';
    return missing(`disk ${part}`, `cannot be written: ${firstLine(error)}`, remedy);
  }
}

/** Size of kgwalk and of the packages around it, which npm does not say. */
function installed(): Finding {
  const above = dirname(packageRoot());
  const folder = basename(above) === 'node_modules' ? above : packageRoot();
  return ok('installed', `${megabytes(bytesIn(folder))} MB in ${folder}`);
}

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0]!;

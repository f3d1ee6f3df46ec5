/** Checks of `kgwalk doctor`. Each returns a result; none throws. */
import { mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { availableParallelism, cpus, freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { arch, constrainedMemory, platform, versions } from 'node:process';
import { listDatasets } from '../datasets/dataset.js';
import { downloadedModels, embeddedModelFile } from '../src/llm/model-files.js';
import { WorkbenchError } from '../src/run/errors.js';
import { missingBinaries, nodeSupport, packageVersion } from '../src/run/environment.js';
import { kgwalkHome, modelsFolder, runsFolder } from '../src/run/locations.js';
import { autoOrder, backendNames, type BackendProbe, probeBackend } from '../src/tensor/backend.js';
import { existingPart, freeBytes } from '../src/run/files.js';
import { megabytes } from './models/files.js';

/** One line of the diagnosis. */
export interface Finding {
  part: string;
  /** `missing` parts cost speed or a feature, never an answer: required parts are dependencies. */
  status: 'ok' | 'missing';
  detail: string;
  /** Remedy for a missing part. */
  remedy?: string;
}

/** Runs all checks in order; takes a second or two, as it loads every native part. */
export async function diagnose(): Promise<Finding[]> {
  const findings = [node(), machine()];
  findings.push(...(await backends()));
  findings.push(await llama());
  findings.push(await lmdb(), await charts());
  findings.push(embedded(), downloads(), dataHome(), disk('home', kgwalkHome()), disk('runs', runsFolder()));
  return findings;
}

function node(): Finding {
  const detail = `${versions.node} on ${platform}-${arch}`;
  const { supported, range } = nodeSupport();
  if (supported) return { part: 'node', status: 'ok', detail };
  const remedy = `kgwalk is tested on Node ${range}: install one of them`;
  return { part: 'node', status: 'missing', detail: `${detail}, not supported`, remedy };
}

function machine(): Finding {
  // In a container its limit counts; a limit above the machine's memory means none.
  const total = Math.min(totalmem(), constrainedMemory() || Infinity);
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return {
    part: 'machine',
    status: 'ok',
    detail: `${availableParallelism()} cores (${model}), ${gib(total)} memory, ${gib(Math.min(freemem(), total))} free`,
  };
}

/** Every backend, and the choice of `auto`. */
async function backends(): Promise<Finding[]> {
  const probes: BackendProbe[] = [];
  for (const name of backendNames) probes.push(await probeBackend(name));
  const taken = probes.filter(({ found, onlyAsked }) => found && onlyAsked === undefined).map(({ name }) => name);
  const choices = sizesOfAuto.map(
    ({ size, what }) => `${autoOrder(size).names.find((name) => taken.includes(name)) ?? 'none'} for ${what}`,
  );
  return [
    ...probes.map(({ name, found, reason, onlyAsked, remedy }): Finding => {
      const finding = { part: `backend ${name}`, detail: onlyAsked ?? reason };
      return found ? { ...finding, status: 'ok' } : { ...finding, status: 'missing', remedy };
    }),
    { part: 'backend auto', status: 'ok', detail: `${choices.join(', ')} networks` },
  ];
}

const sizesOfAuto = [
  { what: 'small', size: { rows: 1, inputs: 1, units: 1 } },
  { what: 'larger', size: { rows: 1000, inputs: 100, units: 100 } },
  { what: 'the largest', size: { rows: 1000, inputs: 1000, units: 1000 } },
];

async function llama(): Promise<Finding> {
  const version = packageVersion('node-llama-cpp') ?? 'not installed';
  try {
    const { getLlama, LlamaLogLevel } = await import('node-llama-cpp');
    const engine = await getLlama({ build: 'never', logLevel: LlamaLogLevel.disabled });
    const gpu = engine.gpu === false ? 'no GPU, runs on the processor' : `GPU by ${engine.gpu}`;
    await engine.dispose();
    return { part: 'node-llama-cpp', status: 'ok', detail: `${version}, ${gpu}` };
  } catch (error) {
    const remedy = binariesRemedy('node-llama-cpp') ?? 'npm install again without --omit=optional';
    return { part: 'node-llama-cpp', status: 'missing', detail: `${version}: ${firstLine(error)}`, remedy };
  }
}

async function lmdb(): Promise<Finding> {
  const version = packageVersion('lmdb') ?? 'not installed';
  try {
    await import('lmdb');
    return { part: 'lmdb', status: 'ok', detail: `${version}, the cache of encoded texts` };
  } catch (error) {
    const remedy = binariesRemedy('lmdb') ?? 'npm install again without --omit=optional';
    return { part: 'lmdb', status: 'missing', detail: `${version}: ${firstLine(error)}`, remedy };
  }
}

/** Draws a picture: a canvas can load and still leave pictures blank. */
async function charts(): Promise<Finding> {
  const version = packageVersion('chartjs-node-canvas') ?? 'not installed';
  try {
    const { tryCanvas } = await import('../reports/canvas.js');
    const boxes = await tryCanvas();
    const without = boxes.length > 0 ? `; no font for ${boxes.join(', ')}: boxes in pictures` : '';
    return { part: 'chartjs-node-canvas', status: 'ok', detail: `${version}, draws charts${without}` };
  } catch (error) {
    const hint = error instanceof WorkbenchError ? error.hint : undefined;
    const remedy = binariesRemedy('@napi-rs/canvas') ?? hint ?? 'npm install again without --omit=optional';
    return { part: 'chartjs-node-canvas', status: 'missing', detail: `${version}: ${firstLine(error)}`, remedy };
  }
}

/** Command that installs the compiled parts of a package, and no others. */
function binariesRemedy(name: string): string | undefined {
  const missing = missingBinaries(name);
  return missing.length > 0 ? `npm install --omit=optional ${missing.join(' ')}` : undefined;
}

function embedded(): Finding {
  const file = embeddedModelFile();
  if (file !== undefined) {
    return { part: 'model demo', status: 'ok', detail: `${megabytes(statSync(file).size)} MB, comes with the package` };
  }
  const remedy = 'install the package again, or train it: npm run models:demo';
  return { part: 'model demo', status: 'missing', detail: 'not in this installation', remedy };
}

function downloads(): Finding {
  const names = downloadedModels();
  if (names.length > 0) return { part: 'models', status: 'ok', detail: `${names.join(', ')} in ${modelsFolder()}` };
  return { part: 'models', status: 'missing', detail: 'none downloaded', remedy: 'kgwalk models list shows some' };
}

function dataHome(): Finding {
  const imported = (['dialogues', 'questions'] as const).flatMap((kind) =>
    listDatasets([kind]).map(({ name }) => name),
  );
  if (imported.length > 0) return { part: 'data', status: 'ok', detail: `${imported.join(', ')} in ${kgwalkHome()}` };
  const remedy = 'kgwalk datasets demo, or kgwalk datasets get opendialkg';
  return { part: 'data', status: 'missing', detail: `nothing imported in ${kgwalkHome()}`, remedy };
}

/** Free space at `folder` and write access, tested by writing, since permissions do not reveal read-only mounts. */
function disk(part: string, folder: string): Finding {
  const place = existingPart(folder);
  try {
    const tried = mkdtempSync(join(place, '.kgwalk-doctor-'));
    rmdirSync(tried);
    return { part: `disk ${part}`, status: 'ok', detail: `${gib(freeBytes(folder))} free at ${folder}` };
  } catch (error) {
    const remedy =
      part === 'home'
        ? 'name another folder: KGWALK_HOME=DIR'
        : 'work in a folder of yours, or name one: KGWALK_RUNS=DIR, --run-dir DIR';
    return { part: `disk ${part}`, status: 'missing', detail: `cannot be written: ${firstLine(error)}`, remedy };
  }
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
}

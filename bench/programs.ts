/** The programs of the bench, ours and the peers', by name: what is run, what it needs, and how it is run. */
import { spawnSync } from 'node:child_process';
import { env as environment } from 'node:process';

/** One program: words with `{place}` in them, which are filled in. */
export interface Program {
  name: string;
  command: readonly string[];
  /** Runs once, in CPU seconds, instead of in every round: minutes long. */
  long?: boolean;
}

const ours = (name: string, row: string, args: string, long = false): Program => ({
  name,
  command: ['{node}', `{rows}/${row}.js`, ...words(args)],
  ...(long && { long }),
});

const peer = (name: string, script: string, args: string, python = '{python}', long = false): Program => ({
  name,
  command: [python, `{peers}/${script}.py`, ...words(args)],
  ...(long && { long }),
});

const words = (text: string) => text.split(' ').filter(Boolean);
const fb15k = '{data}/fb15k-237';
const seconds = '--seconds {seconds}';

/** In the order in which a round runs them: each of ours next to its peers. */
export const programs: readonly Program[] = [
  ours('transe-1-simd', 'transe-train', `${fb15k} --negatives 1 ${seconds}`),
  peer('torch-1', 'transe_torch', `${fb15k} --negatives 1 --batch 4096 ${seconds}`),
  peer('torch-1-large', 'transe_torch', `${fb15k} --negatives 1 --batch 16384 ${seconds}`),
  peer('pykeen-1', 'transe_pykeen', `${fb15k} --negatives 1 --batch 4096 ${seconds}`),
  peer('openke-1', 'transe_openke', `${fb15k} --negatives 1 --openke {openke} ${seconds}`),
  ours('transe-25-simd', 'transe-train', `${fb15k} --negatives 25 ${seconds}`),
  peer('torch-25', 'transe_torch', `${fb15k} --negatives 25 --batch 1024 ${seconds}`),
  peer('pykeen-25', 'transe_pykeen', `${fb15k} --negatives 25 --batch 1024 ${seconds}`),
  peer('openke-25', 'transe_openke', `${fb15k} --negatives 25 --openke {openke} ${seconds}`),
  ours('rank-l1', 'link-eval', `${fb15k} --norm 1 ${seconds}`),
  peer('torch-rank-l1', 'eval_torch', `${fb15k} --norm 1 ${seconds}`),
  ours('rank-l2', 'link-eval', `${fb15k} --norm 2 ${seconds}`),
  peer('torch-rank-l2', 'eval_torch', `${fb15k} --norm 2 ${seconds}`),
  peer('pykeen-rank-l1', 'eval_pykeen', `${fb15k} --batch 32 --triples 256 ${seconds}`),
  ours('env', 'env-steps', `{data}/umls ${seconds}`),
  peer('gymnasium', 'env_python', `{data}/umls ${seconds}`),
  ours('ppo-64', 'ppo-end-to-end', `{data}/umls --hidden 64 --explorations 8 ${seconds}`),
  ours('ppo-64-once', 'ppo-end-to-end', `{data}/umls --hidden 64 ${seconds}`),
  peer('sb3-64', 'sb3_ppo', `{data}/umls --hidden 64 ${seconds}`),
  peer('sb3-64-wide', 'sb3_ppo', `{data}/umls --hidden 64 --envs 512 --steps 2 ${seconds}`),
  ours('ppo-400', 'ppo-end-to-end', `{data}/umls --hidden 400 --explorations 8 ${seconds}`),
  ours('ppo-400-once', 'ppo-end-to-end', `{data}/umls --hidden 400 ${seconds}`),
  peer('sb3-400', 'sb3_ppo', `{data}/umls --hidden 400 ${seconds}`),
  peer('sb3-400-wide', 'sb3_ppo', `{data}/umls --hidden 400 --envs 512 --steps 2 ${seconds}`),
  ...['cart-pole', 'grid', 'masked-bandit'].flatMap((env) => [
    ours(`policy-${env}`, 'classic-ppo', `${env} --total 30000`),
    peer(`sb3-${env}`, 'classic_ppo', `${env} --total 30000`),
    ...(env === 'masked-bandit' ? [] : [peer(`sbx-${env}`, 'classic_ppo', `${env} --system sbx --total 30000`)]),
  ]),
  ours('update-native', 'ppo-update', `--backend tensorflow ${seconds}`),
  ours('update-simd', 'ppo-update', `--backend simd ${seconds}`),
  peer('torch-eager', 'ppo_torch', `- ${seconds}`),
  ours('update-wasm', 'ppo-update', `--backend wasm ${seconds}`),
  peer('torch-compile', 'ppo_torch', `- --compile ${seconds}`),
  ours('forward', 'policy-latency', `${seconds}`),
  ours('encode', 'encode', `{model} ${seconds}`),
  peer('llama-cpp', 'llama_cpp_bench', `{model} ${seconds}`, '{llama-python}'),
  ours('clone-native', 'clone', `{data}/opendialkg --whole --backend tensorflow`, true),
  ours('clone-simd', 'clone', `{data}/opendialkg --whole --backend simd`, true),
  ours('clone-wasm', 'clone', `{data}/opendialkg --whole --backend wasm`, true),
  peer('torch-clone', 'clone_torch', `{data}/opendialkg --whole`, '{python}', true),
  ours('quality', 'transe-train', `${fb15k} --task quality --negatives 25 --seconds 90`, true),
  peer(
    'torch-quality',
    'transe_torch',
    `${fb15k} --quality --negatives 25 --clock cpu --seconds 120`,
    '{python}',
    true,
  ),
  ...[0, 1, 2].flatMap((seed) =>
    [
      ['cart-pole', '--total 32768 --curve 1'],
      ['grid', '--total 16384 --curve 1'],
      ['masked-bandit', '--total 40000 --curve 2'],
    ].flatMap(([env, args]) => [
      ours(`curve-${env}-${seed}`, 'classic-ppo', `${env} ${args} --seed ${seed}`, true),
      peer(`sb3-curve-${env}-${seed}`, 'classic_ppo', `${env} ${args} --seed ${seed}`, '{python}', true),
      ...(env === 'masked-bandit'
        ? []
        : [
            peer(
              `sbx-curve-${env}-${seed}`,
              'classic_ppo',
              `${env} --system sbx ${args} --seed ${seed}`,
              '{python}',
              true,
            ),
          ]),
    ]),
  ),
  ours('link-walk-umls', 'link-walk', `{data}/umls --seconds 20`, true),
  ours('link-walk', 'link-walk', `${fb15k} --seconds 30`, true),
  ours('scale', 'scale', `--triples 1e7`, true),
];

/** Placeholders of a program's command. */
export function placesOf({ command }: Pick<Program, 'command'>): string[] {
  return command.flatMap((word) => [...word.matchAll(/\{([\w-]+)\}/g)].map(([, place]) => place!));
}

/** Outcome of a program. */
export interface Ran {
  /** The lines of JSON that it printed. */
  lines: Record<string, unknown>[];
  /** By the clock, its start included. */
  seconds: number;
  /** Error of one that failed. */
  failure?: {
    exit: number | null;
    /** The end of what it said on standard error. */
    said: string;
  };
}

/**
 * Runs a program to its end.
 * @param places what stands for each `{place}`
 * @param options seconds after which it is ended, and variables of its environment in addition to this program's
 */
export function runProgram(
  { command }: Pick<Program, 'command'>,
  places: Readonly<Record<string, string | undefined>>,
  { seconds, env = {} }: { seconds: number; env?: Record<string, string> },
): Ran {
  const filled = command.map((word) => word.replace(/\{([\w-]+)\}/g, (_, place: string) => places[place]!));
  const begun = performance.now();
  const ran = spawnSync(filled[0]!, filled.slice(1), {
    encoding: 'utf8',
    timeout: seconds * 1000,
    maxBuffer: 2 ** 26,
    env: { ...environment, PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
  const lines = (ran.stdout ?? '').split('\n').filter((line) => line.startsWith('{'));
  return {
    lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    seconds: (performance.now() - begun) / 1000,
    ...(ran.status !== 0 && { failure: { exit: ran.status, said: (ran.error?.message ?? ran.stderr).slice(-3000) } }),
  };
}

/** Programs that measure a card: three sizes of network, on the card and on the processor of its machine. */
import { availableParallelism } from 'node:os';

/** Sizes of network, from one that no card is worth to one that belongs on a card. */
export const sizes = ['small', 'middle', 'large'] as const;
type Size = (typeof sizes)[number];

/** Measured task. */
export const tasks = ['update', 'training', 'llm-ark', 'encoding', 'crossing'] as const;
type Task = (typeof tasks)[number];

/** Columns of the tables: what computes, the card's before the processor's. */
export const computers = [
  'webgpu',
  'tensorflow-gpu',
  'cuda',
  'vulkan',
  'torch on CUDA',
  'tensorflow',
  'wasm',
  'simd',
  'llama.cpp on one core',
  'llama.cpp on four cores',
  'torch on one core',
  'torch on all cores',
] as const;
type Computer = (typeof computers)[number];

/** One program, whose lines of JSON fill a column of some rows. */
export interface GpuProgram {
  task: Task;
  /** Undefined where a program measures all of its sizes. */
  size?: Size;
  computer: Computer;
  /** With `{place}` to be filled in. */
  command: readonly string[];
}

/** PPO's update, `state → hidden`, minibatch. */
const updates: Record<Size, { batch: number; state: number; hidden: number }> = {
  small: { batch: 256, state: 64, hidden: 64 },
  middle: { batch: 1024, state: 576, hidden: 400 },
  large: { batch: 1024, state: 2048, hidden: 1024 },
};
/** Whole rounds of PPO, units of both layers. */
const trainings: Record<Size, number> = { small: 64, middle: 400, large: 1600 };

const backends = ['webgpu', 'tensorflow-gpu', 'tensorflow', 'simd', 'wasm'] as const;
const llamas = {
  cuda: ['cuda', 4],
  vulkan: ['vulkan', 4],
  'llama.cpp on one core': ['off', 1],
  'llama.cpp on four cores': ['off', 4],
} as const;
const torches = {
  'torch on CUDA': '--device cuda',
  'torch on one core': '--threads 1',
  'torch on all cores': `--threads ${availableParallelism()}`,
} as const;

const seconds = '--seconds {seconds}';
const row = (name: string, args: string) => ['{node}', `{rows}/${name}.js`, ...args.split(' ')];
const cores = `--threads ${availableParallelism()}`;

/** In the order in which they run. */
export const gpuPrograms: readonly GpuProgram[] = [
  ...sizes.flatMap((size): GpuProgram[] => {
    const { batch, state, hidden } = updates[size];
    const shape = `--batch ${batch} --state ${state} --hidden ${hidden} ${seconds}`;
    return [
      ...backends.map((computer): GpuProgram => {
        const command = row('ppo-update', `--backend ${computer} ${cores} ${shape}`);
        return { task: 'update', size, computer, command };
      }),
      ...entriesOf(torches).map(([computer, args]): GpuProgram => {
        const command = ['{python}', '{peers}/ppo_torch.py', '-', ...`${args} ${shape}`.split(' ')];
        return { task: 'update', size, computer, command };
      }),
    ];
  }),
  ...sizes.flatMap((size) =>
    backends.map((computer): GpuProgram => {
      const args = `{data}/umls --hidden ${trainings[size]} --explorations 8 --backend ${computer} ${seconds}`;
      return { task: 'training', size, computer, command: row('ppo-end-to-end', args) };
    }),
  ),
  ...(['webgpu', 'tensorflow-gpu', 'simd'] as const).map((computer): GpuProgram => {
    const command = row('llm-ark', `--backend ${computer} --updates 2 --samples 128`);
    return { task: 'llm-ark', computer, command };
  }),
  ...entriesOf(llamas).map(([computer, [device, lanes]]): GpuProgram => {
    const command = row('encode', `{model} --device ${device} --lanes ${lanes} --seconds {long}`);
    return { task: 'encoding', computer, command };
  }),
  ...backends.map((computer): GpuProgram => {
    const window = '--clock wall --rounds 1 --seconds {short} --widths {widths} --batches {batches}';
    return {
      task: 'crossing',
      computer,
      command: [`{node}`, `{bench}/backend-sizes.js`, ...`--backends ${computer} ${window}`.split(' ')],
    };
  }),
];

function entriesOf<Key extends string, Value>(record: Record<Key, Value>) {
  return Object.entries(record) as [Key, Value][];
}

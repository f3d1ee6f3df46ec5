/** Comparisons of the bench: a figure of ours, a figure of a peer, and the target of their ratio. */

/** Picks the lines of one measurement among those that programs printed. */
export interface Figure {
  label: string;
  /** Name of the program that prints it. */
  program: string;
  task: string;
  /** Settings that the line must have. */
  where?: Record<string, unknown>;
  /** Part of the line's system, where one program measures several. */
  system?: string;
}

/** One row of the table. */
export interface Comparison {
  title: string;
  ours: Figure;
  peer: Figure;
  /** `rate`: more is better. `cpu_ms` and `cpu_seconds`: less is. */
  by: 'rate' | 'cpu_ms' | 'cpu_seconds';
  /** Ratio ours / peer that is aimed at: at least where more is better, else at most. */
  target?: number;
}

const compare = (
  title: string,
  by: Comparison['by'],
  ours: Figure,
  peers: readonly (readonly [peer: Figure, target?: number])[],
): Comparison[] => peers.map(([peer, target]) => ({ title, by, ours, peer, ...(target !== undefined && { target }) }));

const transe = (label: string, program: string): Figure => ({ label, program, task: 'transe-train' });
const rank = (label: string, program: string): Figure => ({ label, program, task: 'link-eval' });
const steps = (label: string, program: string, envs: number): Figure => ({
  label,
  program,
  task: 'env-steps',
  where: { envs },
});
const whole = (label: string, program: string): Figure => ({ label, program, task: 'ppo-end-to-end' });
const update = (label: string, program: string): Figure => ({ label, program, task: 'ppo-update' });
const forward = (label: string, program: string, batch: number, system?: string): Figure => ({
  label,
  program,
  task: 'policy-latency',
  where: { batch },
  ...(system !== undefined && { system }),
});
const policy = (label: string, program: string): Figure => ({ label, program, task: 'classic-ppo' });
const encode = (label: string, program: string, task: string): Figure => ({ label, program, task });

/** Rows in the order of the table. */
export const comparisons: readonly Comparison[] = [
  ...compare('TransE training, d = 100, 1 negative', 'rate', transe('SIMD', 'transe-1-simd'), [
    [transe('torch, batch 16,384', 'torch-1-large'), 1.5],
    [transe('torch, batch 4,096', 'torch-1')],
    [transe('PyKEEN', 'pykeen-1'), 2],
    [transe('OpenKE', 'openke-1')],
  ]),
  ...compare('TransE training, d = 100, 25 negatives', 'rate', transe('SIMD', 'transe-25-simd'), [
    [transe('torch', 'torch-25'), 1.5],
    [transe('PyKEEN', 'pykeen-25')],
    [transe('OpenKE', 'openke-25')],
  ]),
  ...compare('Filtered ranking, 14,541 entities, L1', 'rate', rank('SIMD', 'rank-l1'), [
    [rank('torch', 'torch-rank-l1'), 1],
    [rank('PyKEEN', 'pykeen-rank-l1')],
  ]),
  ...compare('Filtered ranking, 14,541 entities, L2', 'rate', rank('SIMD', 'rank-l2'), [
    [rank('torch', 'torch-rank-l2'), 1],
  ]),
  ...compare('Environment, random legal steps, UMLS', 'rate', steps('single', 'env', 1), [
    [steps('Gymnasium, single', 'gymnasium', 1), 5],
  ]),
  ...compare('Environment, random legal steps, UMLS', 'rate', steps('8 at once', 'env', 8), [
    [steps('Gymnasium, 8 at once', 'gymnasium', 8), 20],
    [steps('Gymnasium, single', 'gymnasium', 1), 20],
  ]),
  ...compare('PPO, walks and updates, 64 × 64, UMLS', 'rate', whole('8 walks of a query', 'ppo-64'), [
    [whole('SB3 MaskablePPO, 8 walks at a time', 'sb3-64')],
    [whole('SB3 MaskablePPO, 512 walks at a time', 'sb3-64-wide')],
  ]),
  ...compare('PPO, walks and updates, 64 × 64, UMLS', 'rate', whole('1 walk of a query', 'ppo-64-once'), [
    [whole('SB3 MaskablePPO, 8 walks at a time', 'sb3-64')],
  ]),
  ...compare('PPO, walks and updates, 400 × 400, UMLS', 'rate', whole('8 walks of a query', 'ppo-400'), [
    [whole('SB3 MaskablePPO, 8 walks at a time', 'sb3-400')],
    [whole('SB3 MaskablePPO, 512 walks at a time', 'sb3-400-wide')],
  ]),
  ...compare('PPO, walks and updates, 400 × 400, UMLS', 'rate', whole('1 walk of a query', 'ppo-400-once'), [
    [whole('SB3 MaskablePPO, 8 walks at a time', 'sb3-400')],
  ]),
  ...compare('PPO, CartPole, 64 × 64', 'rate', policy('trainPolicy', 'policy-cart-pole'), [
    [policy('SB3 PPO', 'sb3-cart-pole'), 3],
    [policy('sbx PPO (JAX)', 'sbx-cart-pole')],
  ]),
  ...compare('PPO, grid 5 × 5, 64 × 64', 'rate', policy('trainPolicy', 'policy-grid'), [
    [policy('SB3 PPO', 'sb3-grid'), 3],
    [policy('sbx PPO (JAX)', 'sbx-grid')],
  ]),
  ...compare('PPO, masked bandit, 64 × 64', 'rate', policy('trainPolicy', 'policy-masked-bandit'), [
    [policy('SB3 MaskablePPO', 'sb3-masked-bandit'), 3],
  ]),
  ...compare('PPO update, minibatch 1,024', 'rate', update('native TensorFlow', 'update-native'), [
    [update('torch eager', 'torch-eager'), 1],
    [update('torch.compile', 'torch-compile')],
  ]),
  ...compare('PPO update, minibatch 1,024', 'rate', update('SIMD kernels', 'update-simd'), [
    [update('torch eager', 'torch-eager'), 0.25],
  ]),
  ...compare('PPO update, minibatch 1,024', 'rate', update('wasm', 'update-wasm'), [
    [update('torch eager', 'torch-eager'), 0.25],
  ]),
  ...compare('Policy forward, 1 state', 'cpu_ms', forward('SIMD kernels', 'forward', 1, 'simd'), [
    [forward('torch eager', 'torch-eager', 1), 2],
    [forward('torch.compile', 'torch-compile', 1)],
  ]),
  ...compare('Policy forward, 64 states', 'cpu_ms', forward('native TensorFlow', 'forward', 64, 'tensorflow'), [
    [forward('torch eager', 'torch-eager', 64), 1],
    [forward('torch.compile', 'torch-compile', 64)],
  ]),
  ...compare('Policy forward, 64 states', 'cpu_ms', forward('SIMD kernels', 'forward', 64, 'simd'), [
    [forward('torch eager', 'torch-eager', 64)],
  ]),
  ...compare('Encoding, 650 tokens', 'rate', encode('node-llama-cpp', 'encode', 'llm-prompt'), [
    [encode('llama-cpp-python', 'llama-cpp', 'llm-prompt'), 1],
  ]),
  ...compare('Encoding, 40 tokens after 650 kept', 'rate', encode('node-llama-cpp', 'encode', 'llm-prefix-tail'), [
    [encode('llama-cpp-python', 'llama-cpp', 'llm-prefix-tail'), 1],
  ]),
  ...compare('OpenDialKG clone, one seed', 'cpu_seconds', encode('SIMD kernels', 'clone-simd', 'clone'), [
    [encode('torch', 'torch-clone', 'clone'), 2.5],
  ]),
  ...compare('OpenDialKG clone, one seed', 'cpu_seconds', encode('native TensorFlow', 'clone-native', 'clone'), [
    [encode('torch', 'torch-clone', 'clone'), 1.2],
  ]),
  ...compare('OpenDialKG clone, one seed', 'cpu_seconds', encode('wasm', 'clone-wasm', 'clone'), [
    [encode('torch', 'torch-clone', 'clone'), 4],
  ]),
];

/** `kgwalk/trainers`: whole training runs, and each trainer separately. */
export { calibratedProbability, type TripleProbability } from '../src/embedding/calibrated-probability.js';
export type { LinkScorer } from '../src/embedding/scorers.js';
export { bilinearSettings, type BilinearSettings } from './bilinear/settings.js';
export { clone, type CloneCourse, type CloneEpoch, type CloneOptions, type CloneStep } from './clone.js';
export { cloneSettings, type CloneSettings } from './clone-settings.js';
export type { EpochReport } from './embeddings/epochs.js';
export { openLinkScorer, type OpenedScorer, type ScoredData } from './embeddings/link-scorers.js';
export { forkSettings, type ForkSource } from './fork.js';
export { greedyWalks, type GreedyOptions, type GreedyWalk } from './greedy-walks.js';
export { ppo, type PpoOptions, type PpoUpdate } from './ppo.js';
export type { Learner } from './ppo-step.js';
export { ppoSettings, type PpoSettings } from './ppo-settings.js';
export { type Collect, type Round, wholeWalks } from './rollout.js';
export { StepRollout, type StepRolloutOptions } from './step-rollout.js';
export { trainRun, type TrainOptions } from './train.js';
export { transeSettings, type TransESettings } from './transe/settings.js';
export { trainTransE, type TransEOptions, type TransEResult } from './transe/train-transe.js';

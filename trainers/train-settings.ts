/** The settings that training a walker reads: one section a part, as the presets compose them. */
import type { RelationWalkerSettings } from '../agents/relation-walker/settings.js';
import type { WalkerSettings } from '../agents/walker/settings.js';
import type { CheckpointSettings } from '../checkpoints/settings.js';
import type { DataSettings } from '../datasets/settings.js';
import type { RelationWalkSettings } from '../envs/relation-walk-settings.js';
import type { EnvSettings } from '../envs/settings.js';
import type { EvaluationSettings } from '../evaluation/settings.js';
import type { EncoderSettings } from '../src/encoder/settings.js';
import type { LogSettings } from '../src/run/log-settings.js';
import type { BackendName } from '../src/tensor/backend.js';
import type { CloneSettings } from './cloning/settings.js';
import type { PpoSettings } from './ppo/settings.js';
import type { TransESettings } from './transe/settings.js';

export interface TrainSettings {
  name: string;
  seed: number;
  backend: BackendName | 'auto';
  data: DataSettings;
  env: EnvSettings;
  relationWalk: RelationWalkSettings;
  encoder: EncoderSettings;
  transe: TransESettings;
  walker: WalkerSettings;
  relationWalker: RelationWalkerSettings;
  clone: CloneSettings;
  ppo: PpoSettings;
  evaluation: EvaluationSettings;
  checkpoint: CheckpointSettings;
  log: LogSettings;
}

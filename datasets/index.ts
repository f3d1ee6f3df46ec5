/** `kgwalk/datasets`: importing data sets, loading them, and turning dialogues into samples. */
export type { Dialogue, Message, PathAction, Sender } from './dialogue.js';
export type { DatasetManifest } from './manifest.js';
export { splitNames } from './manifest.js';
export type { ImportOptions } from './opendialkg/import.js';
export { importOpenDialKg } from './opendialkg/import.js';
export type { ParseCounts } from './opendialkg/parse-messages.js';
export type { DialogueFile } from './opendialkg/read-dialogues.js';
export { readDialogues } from './opendialkg/read-dialogues.js';
export type { Dataset, LocateOptions } from './registry.js';
export { listDatasets, loadDataset } from './registry.js';
export type { FileSamples } from './samples-of-file.js';
export { samplesOfFile } from './samples-of-file.js';
export type { DataSettings } from './settings.js';
export { dataSettings } from './settings.js';
export type { SplitName, WalkGold, WalkSample, WalkTask } from './walk-sample.js';
export type { WalkSampleOptions } from './walk-samples.js';
export { walkSamples } from './walk-samples.js';

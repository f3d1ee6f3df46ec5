/** `kgwalk/datasets`: importing and loading data sets, and samples of dialogues. @module kgwalk/datasets */
export { checkDataset, kindOf, listDatasets, type Manifests } from './dataset.js';
export { type DemoImport, type DemoImportOptions, importDemo } from './demo/import.js';
export { type DemoSettings, demoSettings } from './demo/schema.js';
export { writeDemoRelease, type WrittenRelease } from './demo/write-release.js';
export type { Dialogue, Message, PathAction, Sender } from './dialogue.js';
export {
  checkDialogueDataset,
  type DialogueDataset,
  type DialogueManifest,
  loadDialogueDataset,
} from './dialogues/dialogue-dataset.js';
export * from './dialogues/dialogue-statistics.js';
export { type DatasetCheck, type DatasetKind, datasetKind, type LocateOptions } from './imported-dataset.js';
export type { AnyImportOptions, Importer, ImportOptions } from './importer.js';
export { importerOf, importers } from './importers.js';
export { type Release, releases } from './releases.js';
export { importLinks } from './links/import-links.js';
export {
  checkLinkDataset,
  type LinkDataset,
  type LinkManifest,
  linksHash,
  loadLinkDataset,
} from './links/link-dataset.js';
export * from './links/link-statistics.js';
export { readLinkData, type LinkData } from './links/read-splits.js';
export * from './links/resolve-names.js';
export { importOpenDialKg } from './opendialkg/import.js';
export {
  type DialogueFile,
  type FileSamples,
  type ParseCounts,
  readDialogues,
  samplesOfFile,
} from './opendialkg/read-dialogues.js';
export * from './question.js';
export * from './questions/asked-question.js';
export * from './questions/question-dataset.js';
export type { HoldOut, QuestionManifest, QuestionSplit, SplitRole } from './questions/question-manifest.js';
export { type QuestionStatistics, questionStatistics, type SubsetStatistics } from './questions/question-statistics.js';
export { markedTopics, type StoredQuestion } from './questions/stored-question.js';
export * from './questions/write-question-dataset.js';
export { madeFromSamples } from './sample-source.js';
export { type DataSettings, dataSettings } from './settings.js';
export * from './walk-sample.js';

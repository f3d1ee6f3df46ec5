/** Generates and imports a demo world: dialogues and questions as two data sets over one graph. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ProgressReporter, silentProgress } from '../../src/run/progress.js';
import type { DialogueManifest } from '../dialogues/dialogue-dataset.js';
import { importOpenDialKg } from '../opendialkg/import.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { type SplitName, splitNames } from '../walk-sample.js';
import type { DemoQuestion, DemoSubset } from './questions.js';
import { demoSettings, type DemoSettings } from './schema.js';
import { demoContents, type DemoContents, releaseFiles, writeDemoRelease } from './write-release.js';
import { temporaryFolder } from '../../src/run/files.js';

/** Settings and names of a demo import. */
export interface DemoImportOptions {
  /** Defaults: the demo world of the documentation. */
  settings?: Partial<DemoSettings>;
  /** Name of the dialogues; questions are `NAME-questions`. Default `demo`. */
  name?: string;
  /** Default `KGWALK_HOME`. */
  home?: string;
  progress?: ProgressReporter;
}

/** Both manifests, each absent if the settings generate none of its kind. */
export type DemoImport = { dialogues?: DialogueManifest; questions?: QuestionManifest };

const licence = 'as kgwalk itself: everything in it was made by its generator';
const note = 'invented by kgwalk datasets demo: every entity of the generator, dialogues or none';

/**
 * Imports `demo` (like `opendialkg`: train, valid, test by dialogue) and `demo-questions` (like `metaqa`: subsets 1-hop, 2-hop, 3-hop,
 * truth). Replaces existing data sets of these names. Equal settings give equal files.
 * @throws WorkbenchError `usage` for a bad name, `failure` for disk errors
 */
export async function importDemo(options: DemoImportOptions = {}): Promise<DemoImport> {
  const { name = 'demo', home, progress = silentProgress } = options;
  const settings = demoSettings.parse(options.settings ?? {});
  const generated = { by: 'kgwalk datasets demo', settings };
  const from = temporaryFolder('demo');
  try {
    const contents = demoContents(settings, 'graph');
    writeDemoRelease(from, settings, { contents });
    const imported: DemoImport = {};
    if (settings.dialogues > 0) {
      const origin = { licence, note, generated };
      imported.dialogues = await importOpenDialKg({ from, name, home, progress, origin });
    }
    if (settings.questions > 0) {
      const sources = [releaseFiles.triples, releaseFiles.questions].map((file) => join(from, file));
      const parts = { ...questionParts(contents), name: `${name}-questions`, sources, generated };
      imported.questions = await writeQuestionDataset(parts, home);
    }
    return imported;
  } finally {
    rmSync(from, { recursive: true, force: true });
  }
}

function questionParts({ world, questions }: DemoContents) {
  const { graph, aliases } = world;
  const storedOf = (subset: DemoSubset, split: SplitName) =>
    questions.filter((question) => question.subset === subset && question.split === split).map(stored);
  return {
    format: 'demo',
    licence,
    labels: ['generated' as const],
    graphs: [{ graph, note }],
    subsets: [...new Set(questions.map(({ subset }) => subset))].map((subset) => ({
      name: subset,
      graph: graph.name,
      files: Object.fromEntries(splitNames.map((split) => [split, { questions: storedOf(subset, split) }])),
    })),
    aliases: new Map(
      graph.entityNames.flatMap((entity, id) => (aliases[id]!.length > 0 ? [[entity, aliases[id]!] as const] : [])),
    ),
  };
}

/** Question without its subset and split. */
function stored({ subset: _subset, split: _split, marked: _marked, ...question }: DemoQuestion): StoredQuestion {
  return question;
}

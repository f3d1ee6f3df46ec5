/** Makes a demo world and imports it: dialogues as one data set, questions as another, over one graph. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProgressReporter } from '../../src/run/progress.js';
import { silentProgress } from '../../src/run/progress.js';
import type { DatasetManifest } from '../manifest.js';
import { splitNames } from '../manifest.js';
import { importOpenDialKg } from '../opendialkg/import.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { aliasesOf } from './aliases.js';
import { demoQuestions } from './questions.js';
import { demoSettings, type DemoSettings } from './settings.js';
import { demoWorld } from './world.js';
import { releaseFiles, writeDemoRelease } from './write-release.js';

export interface DemoImportOptions {
  /** Default each its default: the demo world of the documentation. */
  settings?: Partial<DemoSettings>;
  /** Name of the dialogues; the questions are `NAME-questions`. Default `demo`. */
  name?: string;
  /** Default `KGWALK_HOME`. */
  home?: string;
  progress?: ProgressReporter;
}

/** Both manifests, each absent where the settings ask for none of its kind. */
export interface DemoImport {
  dialogues?: DatasetManifest;
  questions?: QuestionManifest;
}

const licence = 'as kgwalk itself: everything in it was made by its generator';
const note = 'invented by kgwalk datasets demo: every entity of the generator, dialogues or none';

/**
 * Imports `demo` (like `opendialkg`: train, valid, test by dialogue) and `demo-questions` (like `metaqa`: subsets 1-hop, 2-hop, 3-hop, truth).
 * Existing data sets of these names are replaced. Equal settings give equal files.
 * @throws WorkbenchError `config` for bad settings, `usage` for a bad name, `failure` when the disk refuses
 */
export async function importDemo(options: DemoImportOptions = {}): Promise<DemoImport> {
  const { name = 'demo', home, progress = silentProgress } = options;
  const settings = demoSettings.parse(options.settings ?? {});
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-demo-'));
  try {
    writeDemoRelease(folder, settings);
    const generated = { by: 'kgwalk datasets demo', settings };
    const imported: DemoImport = {};
    if (settings.dialogues > 0) {
      imported.dialogues = await importOpenDialKg({
        from: folder,
        name,
        home,
        progress,
        origin: { licence, note, generated },
      });
    }
    if (settings.questions > 0) {
      imported.questions = await importQuestions(folder, `${name}-questions`, settings, home, generated);
    }
    return imported;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function importQuestions(
  folder: string,
  name: string,
  settings: DemoSettings,
  home: string | undefined,
  generated: QuestionManifest['generated'],
): Promise<QuestionManifest> {
  const world = demoWorld(settings, 'graph');
  const { graph, types } = world;
  const questions = demoQuestions(world, settings);
  const subsets = [...new Set(questions.map(({ subset }) => subset))];
  return writeQuestionDataset(
    {
      name,
      format: 'demo',
      licence,
      labels: ['generated'],
      graphs: [{ graph, note }],
      subsets: subsets.map((subset) => ({
        name: subset,
        graph: graph.name,
        files: Object.fromEntries(
          splitNames.map((split) => [
            split,
            {
              questions: questions
                .filter((question) => question.subset === subset && question.split === split)
                .map(({ subset: _, split: __, marked: ___, ...stored }) => stored),
            },
          ]),
        ),
      })),
      aliases: new Map(
        graph.entityNames
          .map((entity, id) => [entity, aliasesOf(types[id]!, entity)] as const)
          .filter(([, names]) => names.length > 0),
      ),
      sources: [join(folder, releaseFiles.triples), join(folder, releaseFiles.questions)],
      generated,
    },
    home,
  );
}

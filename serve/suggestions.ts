/** Suggestions of the form for questions: examples from the valid split of a run’s data set, relations, and entities while one is typed. */
import { z } from 'zod';
import { type NameSearch, nameSearch } from '../src/kg/name-search.js';
import { ofShape } from '../src/run/read-json.js';
import { openRun } from '../src/run/run-folder.js';
import { taskOf } from '../tasks/named.js';
import type { AskedFields, AskedNames } from '../tasks/task.js';
import { validExamples } from '../tasks/valid-examples.js';
import type { Suggestions } from './api.js';
import { keptRuns, whichRun } from './kept-runs.js';
import { stampOfRun, type World } from './runs.js';

const { run } = whichRun;

const completed = z.strictObject({
  run,
  prefix: z.string().min(1).max(200),
  limit: z.coerce.number().pipe(z.int().min(1).max(50)).default(10),
});

/** Samples of the valid split among which examples are chosen, and examples. */
const [mostDrawn, mostExamples] = [50, 4];
/** Relations sent. */
const mostRelations = 2000;

interface Loaded extends Suggestions {
  complete(text: string, most: number): string[];
  close(): void;
}

/** Close it after use. */
export function openSuggestions(world: World) {
  const kept = keptRuns(world, '/api/entities', loadSuggestions, stampOfRun);
  const of = <T>(key: string, use: (loaded: Loaded) => T) =>
    kept.use({ run: key, checkpoint: '' }, async (loaded) => use(loaded));
  return {
    /** @param query of the URL @throws WorkbenchError `data` for a data set that is gone or has no valid split */
    async suggestions(query: unknown): Promise<Suggestions> {
      const at = { what: 'a run', place: '/api/questions', code: 'usage' } as const;
      const asked = ofShape(query, z.strictObject({ run }), at);
      return of(asked.run, ({ examples, relations }) => ({ examples, relations }));
    },
    /** @param query of the URL @throws WorkbenchError `data` or `usage` */
    async entities(query: unknown): Promise<{ entities: string[] }> {
      const at = { what: 'a run and the beginning of a name', place: '/api/entities', code: 'usage' } as const;
      const { run: key, prefix, limit } = ofShape(query, completed, at);
      return of(key, ({ complete }) => ({ entities: complete(prefix, limit) }));
    },
    close: kept.close,
  };
}

async function loadSuggestions(folder: string): Promise<Loaded> {
  const task = await taskOf([{ name: folder, isRun: true }], {});
  const { examples, data } = await validExamples(task, openRun(folder), mostDrawn);
  return keptNames(task.ask!.namesOf(data), examples.slice(0, mostExamples));
}

/** All that is kept of the data. Names are sorted when one is first typed. */
function keptNames(names: AskedNames, examples: readonly AskedFields[]): Loaded {
  const { entities, nameOf = (entity) => entities[entity]!, relations } = names;
  let search: NameSearch | undefined;
  return {
    ...{ examples, relations: relations.slice(0, mostRelations) },
    complete: (text, most) => (search ??= nameSearch(entities))(text, most).map(nameOf),
    close() {},
  };
}

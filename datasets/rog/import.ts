/** Import of the rows of RoG-webqsp and RoG-cwq: questions, each with its part of Freebase. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { textBlocks } from '../../src/kg/read-lines.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { entityResolver } from '../custom/read-questions.js';
import { type AnyImportOptions, type Importer, type ImportReport, inSteps, LineProblems } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { locatedTopic } from '../questions/stored-question.js';
import { type ImportedFile, writeQuestionDataset } from '../questions/write-question-dataset.js';

const names = z.array(z.string());
const rowSchema = z.object({
  id: z.string(),
  question: z.string().min(1),
  answer: names,
  q_entity: names,
  a_entity: names.optional(),
  graph: z.array(z.tuple([z.string(), z.string(), z.string()])),
});
type RogRow = Omit<z.output<typeof rowSchema>, 'graph'>;

/**
 * Reads `train*.jsonl`, `validation*.jsonl` (or `valid`, `dev`) and `test*.jsonl` of a folder or its folder `data`, else any `.jsonl`: a
 * row `{id, question, answer, q_entity, a_entity, graph}` a line. The graph is the union of those of all rows, with inverses added.
 * Questions without an answer are dropped and counted.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` for disk errors
 */
async function importRog(options: AnyImportOptions): Promise<QuestionManifest> {
  const { from, name = 'rog', home, skipBroken, progress } = options;
  const sources = findRows(from);
  const report: ImportReport = { skipBroken, notes: [] };
  return inSteps(progress, sources.length + 2, async (done) => {
    const builder = new GraphBuilder();
    const rows = new Map<string, RogRow[]>();
    for (const { split, file } of sources) {
      rows.set(split, [...(rows.get(split) ?? []), ...(await readRows(file, builder, report))]);
      done(basename(file));
    }
    const graph = builder.build('union', { addInverses: !builder.hasInverses });
    done('graph built');
    const { resolve, notes } = entityResolver(graph);
    const files = Object.fromEntries([...rows].map(([split, some]) => [split, importedFile(some, resolve)]));
    return writeQuestionDataset(
      {
        ...{ name, format: 'rog', licence: 'as its source says; Freebase: CC BY' },
        graphs: [
          {
            graph,
            note: 'the union of the graphs of all rows, those of test included; inverses (~relation) were added',
          },
        ],
        subsets: [{ name: 'all', graph: graph.name, files }],
        sources: sources.map(({ file }) => file),
        notes: [...report.notes, ...notes()],
      },
      home,
    );
  });
}

/** Entry of `importers.ts`. */
export const rog: Importer<'questions'> = { name: 'rog', kind: 'questions', takes: ['skipBroken'], import: importRog };

const fileName = /^(train|valid(?:ation)?|dev|test)\b.*\.jsonl?(?:\.gz)?$/;

function findRows(from: string): { split: string; file: string }[] {
  const stat = statSync(from, { throwIfNoEntry: false });
  if (stat?.isFile()) return [{ split: 'all', file: from }];
  const folders = [from, join(from, 'data')].filter((folder) =>
    statSync(folder, { throwIfNoEntry: false })?.isDirectory(),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name)),
  );
  const found = files.flatMap((file) => {
    const [, split] = fileName.exec(basename(file)) ?? [];
    return split === undefined ? [] : [{ split: split.replace('validation', 'valid'), file }];
  });
  if (found.length > 0) return found;
  const others = files.filter((file) => /\.jsonl(?:\.gz)?$/.test(file));
  if (others.length > 0) return others.map((file) => ({ split: 'all', file }));
  const parquet = files.find((file) => file.endsWith('.parquet'));
  throw new WorkbenchError(
    'data',
    `expected rows (train.jsonl, validation.jsonl, test.jsonl or another .jsonl), got none, at ${from}`,
    {
      hint: parquet
        ? `Parquet is not read. In Python: pandas.read_parquet("${basename(parquet)}").to_json("${basename(dirname(parquet))}/${basename(parquet).replace(/\.parquet$/, '.jsonl')}", orient="records", lines=True)`
        : 'Give the folder of the rows, or one file, with --from.',
    },
  );
}

/** Rows of a file; their triples go to the builder. */
async function readRows(file: string, builder: GraphBuilder, report: ImportReport): Promise<RogRow[]> {
  const problems = new LineProblems(file, report);
  const add = builder.sinkOf(file);
  const rows: RogRow[] = [];
  let line = 0;
  for await (const block of textBlocks(file, 'rows (JSON, one a line)', () => line)) {
    for (const text of block.toString('utf8').replace(/\n$/, '').split('\n')) {
      line++;
      if (text.trim() === '') continue;
      const row = rowOf(text);
      if (typeof row === 'string') problems.add(line, row);
      else {
        const { graph, ...rest } = row;
        for (const [head, relation, tail] of graph) add(head, relation, tail);
        rows.push(rest);
      }
    }
  }
  problems.throwIfAny();
  return rows;
}

function rowOf(text: string): z.output<typeof rowSchema> | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return `expected a JSON object, got ${printable(text, 80)}`;
  }
  const parsed = rowSchema.safeParse(json);
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue];
    return `expected a row of RoG, got ${printable(`${path.join('.')}: ${message}`, 200)}`;
  }
  const blank = parsed.data.graph.find((triple) => triple.some((name) => name.trim() === ''));
  return blank ? `expected names in every triple, got ${printable(JSON.stringify(blank), 80)}` : parsed.data;
}

function importedFile(rows: readonly RogRow[], resolve: (name: string) => string): ImportedFile {
  const answered = rows.filter(({ answer }) => answer.length > 0);
  const questions = answered.map(({ id, question, answer, q_entity: topics }) => ({
    ...{ id, question },
    topics: [...new Set(topics)].map((topic) => ({ ...locatedTopic(question, topic), name: resolve(topic) })),
    answers: [...new Set(answer.map(resolve))].map((name) => ({ name })),
  }));
  return { questions, dropped: { 'no answer': rows.length - answered.length } };
}

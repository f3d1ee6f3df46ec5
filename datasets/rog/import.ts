/** Import of the rows of RoG-webqsp and RoG-cwq: questions, each with its part of Freebase. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { textBlocks } from '../../src/kg/read-lines.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { entityResolver, parsedLine } from '../custom/read-questions.js';
import { type AnyImportOptions, type Importer, inSteps, LineProblems } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { locatedTopic } from '../questions/stored-question.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';

const text = z.string().regex(/\S/);
const rowSchema = z.object({
  ...{ id: text, question: text, answer: z.array(text), q_entity: z.array(text) },
  graph: z.array(z.tuple([text, text, text])),
});
type RogRow = Omit<z.output<typeof rowSchema>, 'graph'>;

/**
 * Reads `train*.jsonl`, `validation*.jsonl` (or `valid`, `dev`) and `test*.jsonl` of a folder or its folder `data`, else any `.jsonl`: a
 * row `{id, question, answer, q_entity, graph}` a line, also `.gz`. The graph is the union of those of all rows, with inverses added.
 * Questions without an answer are dropped and counted.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` for disk errors
 */
async function importRog(options: AnyImportOptions): Promise<QuestionManifest> {
  const { from, name = 'rog', home, skipBroken, progress } = options;
  const sources = findRows(from);
  const report = { skipBroken, notes: [] as string[] };
  return inSteps(progress, sources.length + 2, async (done) => {
    const builder = new GraphBuilder();
    const rows: Record<string, RogRow[]> = {};
    for (const { split, file } of sources) {
      const problems = new LineProblems(file, report);
      const add = builder.sinkOf(file);
      await eachLine(file, (line, number) => {
        const row = parsedLine(line, rowSchema);
        if (typeof row === 'string') return problems.add(number, row);
        const { graph, ...rest } = row;
        for (const triple of graph) add(...triple);
        (rows[split] ??= []).push(rest);
      });
      problems.throwIfAny();
      done(basename(file));
    }
    const graph = builder.build('union', { addInverses: !builder.hasInverses });
    done('graph built');
    const { resolve, notes } = entityResolver(graph);
    const files = Object.fromEntries(Object.entries(rows).map(([split, some]) => [split, importedFile(some, resolve)]));
    const parts = {
      ...{
        name,
        format: 'rog',
        licence: 'as its source says; Freebase: CC BY',
        sources: sources.map(({ file }) => file),
      },
      graphs: [{ graph, note: 'inverses (~relation) were added; the union of the graphs of all rows, test included' }],
      subsets: [{ name: 'all', graph: graph.name, files }],
      notes: [...report.notes, ...notes()],
    };
    return writeQuestionDataset(parts, home);
  });
}

/** Entry of `importers.ts`. */
export const rog: Importer<'questions'> = { name: 'rog', kind: 'questions', takes: ['skipBroken'], import: importRog };

function findRows(from: string): { split: string; file: string }[] {
  const folder = existsSync(join(from, 'data')) ? join(from, 'data') : from;
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  const files = isFolder
    ? readdirSync(folder)
        .sort()
        .map((name) => join(folder, name))
    : [from];
  const rows = files.filter((file) => existsSync(file) && (!isFolder || /\.jsonl?(\.gz)?$/.test(file)));
  const named = rows.flatMap((file) => {
    const [, split] = /^(train|valid(?:ation)?|dev|test)(?![a-z])/.exec(basename(file)) ?? [];
    return split === undefined ? [] : [{ split: split.replace('ation', ''), file }];
  });
  if (rows.length > 0) return isFolder && named.length > 0 ? named : rows.map((file) => ({ split: 'all', file }));
  const parquet = files.find((file) => file.endsWith('.parquet'));
  throw new WorkbenchError('data', `expected rows (train.jsonl, validation.jsonl, test.jsonl), got none, at ${from}`, {
    hint: parquet
      ? `Parquet is not read. In Python: pandas.read_parquet("${basename(parquet)}").to_json("${basename(parquet, '.parquet')}.jsonl", orient="records", lines=True)`
      : 'Give the folder of the rows, or one file, with --from.',
  });
}

/** Lines that are not blank, of up to three mebibytes: a row has thousands of triples. */
async function eachLine(file: string, take: (line: string, number: number) => void): Promise<void> {
  let number = 0;
  for await (const block of textBlocks(file, 'rows (JSON, one a line)', () => number)) {
    for (const line of block.toString('utf8').replace(/\n$/, '').split('\n')) {
      number++;
      if (line.trim() !== '') take(line, number);
    }
  }
}

function importedFile(rows: readonly RogRow[], resolve: (name: string) => string) {
  const answered = rows.filter(({ answer }) => answer.length > 0);
  const questions = answered.map(({ id, question, answer, q_entity: topics }) => ({
    ...{ id, question },
    topics: [...new Set(topics)].map((topic) => ({ ...locatedTopic(question, topic), name: resolve(topic) })),
    answers: [...new Set(answer.map(resolve))].map((name) => ({ name })),
  }));
  return { questions, dropped: { 'no answer': rows.length - answered.length } };
}

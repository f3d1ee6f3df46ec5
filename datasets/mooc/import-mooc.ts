/** Imports the structural part of MOOCCube and makes questions over it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { ImportOptions } from '../opendialkg/import.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { generateQuestions } from './generate-questions.js';

/** Of each subset; equal for everybody, so that tables compare. */
const generation = { count: 1000, seed: 0 };

const triplesFile = 'triples_structural.tsv';

/**
 * Reads `triples_structural.tsv` (`head TAB relation TAB tail`; concepts, fields, courses, schools, teachers) and generates
 * statements over one and two relations and queries over one. Names stay Chinese, questions are English.
 * @throws WorkbenchError `data` without triples, or without the relations that questions are made of
 */
export async function importMooc({ from, name = 'mooc', home }: ImportOptions): Promise<QuestionManifest> {
  const triples = join(from, triplesFile);
  if (!existsSync(triples)) {
    throw new WorkbenchError('data', `expected ${triplesFile}, got none, at ${from}`, {
      hint: 'Each line is head, relation and tail, separated by tabs; relations concept_major, prerequisite_of, school_offers_course, teacher_teaches_course.',
    });
  }
  const builder = new GraphBuilder();
  await builder.addFile(triples, {});
  const graph = builder.build('mooc', { addInverses: true });
  const questions = generateQuestions(graph, generation);
  return writeQuestionDataset(
    {
      name,
      format: 'mooc',
      licence: 'MOOCCube: as its authors state',
      labels: ['generated'],
      graphs: [{ graph, note: 'the structural part of MOOCCube; questions are generated from the graph itself' }],
      subsets: Object.entries(questions).map(([subset, made]) => ({
        name: subset,
        graph: graph.name,
        files: { all: { questions: made } },
      })),
      sources: [triples],
    },
    home,
  );
}

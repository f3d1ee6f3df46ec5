/**
 * Link queries with two hubs that every entity has an edge to, as a class or a country is: train, valid and test of 250
 * triples each, for `kgwalk datasets import triples`. The other triples are those of bench/generated-triples.ts.
 *
 *     node dist/bench/hub-triples.js FOLDER [--triples 1e6] [--seed 0]
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Rng } from '../src/run/seeds.js';
import { writeGeneratedTriples } from './generated-triples.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { triples: { type: 'string', default: '1e6' }, seed: { type: 'string', default: '0' } },
});
const [folder] = positionals;
if (folder === undefined) throw new Error('expected the folder to write train.txt, valid.txt and test.txt to');
mkdirSync(folder, { recursive: true });

const [triples, seed] = [Number(values.triples), Number(values.seed)];
const drawn = join(folder, 'drawn');
// A tenth as many entities: a fifth of the triples lead to the two hubs. Relations as many as FB15k-237 has, nearly.
writeGeneratedTriples(drawn, { triples: 0.8 * triples, entities: triples / 10, relations: 240 }, seed);
const lines = new Set(readFileSync(drawn, 'utf8').split('\n').filter(Boolean));
rmSync(drawn);
const entities = new Set([...lines].map((line) => line.slice(0, line.indexOf('\t'))));
for (const entity of entities) for (const hub of ['class', 'country']) lines.add(`${entity}\t/hub/${hub}\t/m/${hub}`);

const all = Rng.named(seed, 'bench/hubs').shuffle([...lines]);
const held = 250;
const parts = { valid: all.slice(0, held), test: all.slice(held, 2 * held), train: all.slice(2 * held) };
for (const [split, own] of Object.entries(parts)) writeFileSync(join(folder, `${split}.txt`), `${own.join('\n')}\n`);
console.log(
  `${all.length} triples of ${entities.size + 2} entities, of which each has an edge to both hubs, at ${folder}`,
);

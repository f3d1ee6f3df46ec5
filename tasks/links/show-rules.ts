/** `kgwalk rules show`: the most precise rules of a data set. */
import { boundedHeap } from '../../agents/bounded-heap.js';
import { Features } from '../../agents/rules/features.js';
import { ruleAt } from '../../agents/rules/found-rule.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { resolveRelation } from '../../datasets/links/resolve-names.js';
import { type RuleFlags, wholeNumber } from '../flags.js';
import type { Shown, Work } from '../task.js';
import { ruleWords } from './row.js';
import { baselineRules } from './rules.js';

/** Largest `--top`. */
const most = 100_000;

/** Chains and constants of the head, mined on train, by precision; those of known answers depend on the question. */
export async function showRules(name: string, flags: RuleFlags, { progress, signal }: Work): Promise<Shown> {
  const top = wholeNumber(flags.top, '--top', 1, most);
  const dataset = await loadLinkDataset(name);
  const { graph } = dataset;
  const plain = graph.numRelations / 2;
  const given = flags.relation.map((relation) => resolveRelation(dataset, relation));
  const relations = given.length > 0 ? new Set(given.map((relation) => relation % plain)) : undefined;
  const line = progress('mine rules', graph.numRelations, 'relations');
  const rules = await baselineRules(dataset, { relations, signal, onProgress: (done) => line.update(done) });
  line.finish();
  const features = new Features(graph);
  const heap = boundedHeap(top);
  let order = 0;
  for (let relation = 0; relation < graph.numRelations; relation++) {
    if (given.length > 0 && !given.includes(relation)) continue;
    const chains = rules.chains[relation]!;
    chains.forEach(({ precision }, id) => heap.offer(precision, order++, id, -1, relation));
    rules.constants[relation]!.answers.forEach((answer, rule) => {
      const id = chains.length + 1 + rule;
      const { precision } = ruleAt(rules, features, { relation, inverse: -1, id, entity: answer }, 'head');
      heap.offer(precision, order++, id, answer, relation);
    });
  }
  const shown = heap.drain().map(({ a: id, b: entity, value: relation }) => {
    const rule = ruleAt(rules, features, { relation, inverse: -1, id, entity }, 'head');
    const { kind, right, of, precision } = rule;
    const words = ruleWords(rule, relation, entity, dataset);
    return { relation: graph.relationNames[relation]!, kind, rule: words, right, of, precision };
  });
  return {
    json: { dataset: name, rules: shown },
    sections: [
      shown.length === 0
        ? { title: '', lines: ['no rule is right twice'] }
        : {
            title: '',
            rows: shown.map(({ relation, rule, right, of, precision }) => ({
              ...{ precision: precision.toFixed(3), right, of, 'asked for': relation, rule },
            })),
          },
    ],
  };
}

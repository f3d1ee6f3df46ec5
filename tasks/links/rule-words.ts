/** Rules in words. */
import type { FoundRule } from '../../agents/link-ranker.js';
import type { LinkDataset } from '../../datasets/links/link-dataset.js';

/** `of 61 heads with nationality → Norway, 58 have Norwegian` */
export function ruleWords(
  { kind, chain, feature, right, of }: Omit<FoundRule, 'precision'>,
  relation: number,
  answer: number,
  { graph, labels }: Pick<LinkDataset, 'graph' | 'labels'>,
): string {
  const names = graph.relationNames;
  const having =
    feature && `${names[feature.relation]!} → ${feature.entity < 0 ? 'anything' : labels[feature.entity]!}`;
  switch (kind) {
    case 'chain':
      return `${chain!.map((step) => names[step]!).join(' → ') || '(itself)'} (${right} of ${of})`;
    case 'prior':
      return `of ${of} heads of ${names[relation]!}, ${right} have ${labels[answer]!}`;
    case 'head':
      return `of ${of} heads with ${having!}, ${right} have ${labels[answer]!}`;
    case 'answers':
      return `of ${of} answers with ${having!}, ${right} are known here`;
  }
}

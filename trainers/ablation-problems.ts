/** Ablations of LLM-ARK that contradict each other, or that another setting leaves without a meaning. */
import type { TrainSettings } from './train-settings.js';

/** What is wrong, each as `expected …, got …`; none where all fits. */
export function ablationProblems({ env, walker }: Pick<TrainSettings, 'env' | 'walker'>): string[] {
  const trained = walker.entityInit === 'random-trainable';
  const problems: [wrong: boolean, problem: string][] = [
    [
      trained && (walker.entityVectors.includes('transe') || walker.relationVectors === 'transe'),
      'expected no transe in walker.entityVectors and walker.relationVectors with walker.entityInit=random-trainable, which draws both at random, got transe',
    ],
    [
      trained && walker.placeVectors,
      'expected walker.placeVectors=false with walker.entityInit=random-trainable, whose state has no frozen vectors to read, got true',
    ],
    [
      !walker.pathAware && trained,
      'expected walker.entityInit=frozen with walker.pathAware=false, which reads no vectors of edges, got random-trainable',
    ],
    [
      !walker.pathAware && env.edgePolicy === 'full',
      'expected env.edgePolicy=ark or topk-degree with walker.pathAware=false, whose network has env.maxOut places, got full',
    ],
  ];
  return problems.filter(([wrong]) => wrong).map(([, problem]) => problem);
}

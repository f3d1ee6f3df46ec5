/** Settings of readers that score the entities of a question’s subgraph. */
import { z } from 'zod';

/** Keys of the `reader` section. */
export const entitySettings = {
  entities: z
    .strictObject({
      most: z
        .int()
        .min(1)
        .max(100_000)
        .default(500)
        .describe('Entities of a question’s subgraph, those of highest PageRank.'),
      dim: z
        .int()
        .min(1)
        .max(4096)
        .default(48)
        .describe('Numbers of an entity’s state or row, of a relation and of an instruction.'),
      setShare: z
        .number()
        .min(0)
        .max(1)
        .default(0.3)
        .describe('The answer is every entity with at least this share of the best one’s.'),
      teacher: z
        .enum(['none', 'parallel', 'hybrid'])
        .default('none')
        .describe(
          'Kind nsm: a network that walks from the answers back as well and says where its walks are in between; both ways by themselves, or with instructions in common.',
        ),
      teacherSteps: z
        .int()
        .min(1)
        .default(200)
        .describe('Of fit.steps the first, in which the teacher is trained; the network that answers has the others.'),
      guidance: z.number().min(0).max(10).default(0.05).describe('Weight of the distance from what the teacher says.'),
      memory: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(1000)
        .describe('Kind kv-mem: facts that a question reads, those nearest its topic.'),
      learningRate: z
        .number()
        .positive()
        .max(100)
        .default(0.1)
        .describe('Kind kv-mem: of the first step of entities’ rows, which go by Adagrad; falls as that of fit.'),
      deviation: z.number().positive().max(10).default(0.35).describe('Kind kv-mem: of fresh numbers.'),
    })
    .prefault({})
    .describe('Kinds nsm and kv-mem, which score the entities of a subgraph.'),
};

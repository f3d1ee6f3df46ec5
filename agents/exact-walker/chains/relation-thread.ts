/** Worker thread that trains relations, started by `chains-walker.ts`. */
import { serveJobs } from '../../../src/run/worker-pool.js';
import { type ChainWork, relationLearner } from './learn-relation.js';

serveJobs((work: ChainWork) => Promise.resolve(relationLearner(work)));

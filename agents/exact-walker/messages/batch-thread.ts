/** Worker thread that computes gradients of batch parts, started by `message-walker.ts`. */
import { serveJobs } from '../../../src/run/worker-pool.js';
import { type MessageWork, partLearner } from './learn-batch.js';

serveJobs((work: MessageWork) => Promise.resolve(partLearner(work)));

/** A thread that makes gradients of parts of batches, started by `message-walker.ts`. */
import { serveJobs } from '../../../src/run/worker-pool.js';
import { type MessageWork, partLearner } from './learn-batch.js';

serveJobs((work: MessageWork) => Promise.resolve(partLearner(work)));

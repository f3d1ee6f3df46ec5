/** Prompted agents: what a model is asked, how its replies are kept and found again, and what a replay says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatServer, says } from '../fixtures/chat-server.js';
import { goldens, hashesUnder, inFull, ran, set, sha256, together, useDemoHome } from './golden.js';

useDemoHome();
const { same } = goldens('prompts');

/** An evaluation by a simulated model, whose errors follow from a seed. */
async function simulated(agent: string, ...words: string[]) {
  const asked = ['--agent', agent, '--model', 'oracle:0.2', '--dataset', 'demo-questions', '--limit', '12'];
  const out = await ran('evaluate', ...asked, ...words, '--evaluations', 'kept', '--json');
  return join((JSON.parse(out) as { saved: string }).saved, '..');
}

/** Lines in the order of their text: several calls are under way at once, and the first to end is written first. */
const completionsOf = (folder: string) =>
  readFileSync(join(folder, 'completions.jsonl'), 'utf8').trim().split('\n').sort();

/** Rows, traces, completions with their keys, and the sentence of a replay without the number of seconds. */
async function filesOf(folder: string) {
  const wanted = ['answers.jsonl', 'rows.arrow', 'traces.jsonl'];
  const replayed = await ran('replay', folder, '--evaluations', 'kept');
  return {
    ...hashesUnder(folder, (name) => wanted.includes(name)),
    'completions.jsonl': sha256(completionsOf(folder).join('\n')),
    replay: replayed.replace(/^(\d+) \w+ (replayed: every byte[^\n]*)[^]*/, '$1 $2'),
  };
}

same(
  'simulated',
  'questions answered by a simulated model: answers, traces, rows, completions and their keys, a replay',
  async () =>
    together({
      fiske: await filesOf(await simulated('fiske')),
      ...(inFull && {
        'fiske, switches': await filesOf(await simulated('fiske', ...set('stateful=false'), '--withhold-hops')),
        tog: await filesOf(await simulated('tog')),
      }),
      'tog, budget': await filesOf(await simulated('tog', '--budget', '4', '--budget-mode', 'reference')),
      // Its memory goes by vectors: those of a model differ between processors, and which examples are nearest with them.
      'self-veqa': await filesOf(await simulated('self-veqa', '--encoder', 'hashed:256')),
    }),
);

same('completion keys', 'by what a completion is found again: model, prompt, grammar and sampling', async () => {
  const folder = await simulated('fiske');
  const keys = completionsOf(folder).flatMap((line) => (JSON.parse(line) as { key?: string }).key ?? []);
  return { count: String(keys.length), first: keys[0]!, all: sha256(keys.join('\n')) };
});

/** Everything that a server is sent, in no order: several calls are under way at once. */
async function sentBy(...words: string[]): Promise<Record<string, string>> {
  const server = await chatServer(says('{"answer": ["Nobody"], "choice": 1}'));
  try {
    await ran('evaluate', ...words, '--limit', '3', '--model', `${server.url}#any`);
  } finally {
    await server.close();
  }
  const bodies = server.calls.map(({ body }) => JSON.stringify(body)).sort();
  return { calls: String(bodies.length), sent: sha256(bodies.join('\n')) };
}

same('prompts', 'the bodies of calls to a server that always says the same', async () => {
  const rows: Record<string, Record<string, string>> = {};
  for (const agent of ['io', 'cot', 'tog', 'fiske', 'self-veqa']) {
    const words = ['--agent', agent, '--dataset', 'demo-questions/2-hop', '--evaluations', 'asked', '--budget', '6'];
    if (agent === 'self-veqa') words.push('--encoder', 'hashed:256');
    rows[agent] = await sentBy(...words);
  }
  for (const agent of ['ark-standard', 'ark-normal', 'ark-opa']) {
    rows[agent] = await sentBy('--agent', agent, '--dataset', 'demo');
  }
  return together(rows);
});

/** The lines of the documentation that no test runs, each with its reason. Lines of `kgwalk` among them are parsed all the same. */

const lines: readonly [page: string, begin: string, why: string][] = [
  ...['README.md', 'docs/how-to/models.md', 'docs/methods/llm-policy.md'].map((page): [string, string, string] => [
    page,
    'npx kgwalk models get ',
    'downloads; test/cli/models.test.ts does, from a server on this machine',
  ]),
  [
    'docs/how-to/models.md',
    'npx kgwalk datasets get opendialkg',
    'downloads; test/cli/datasets-get.test.ts does, from such a server',
  ],
  ['docs/how-to/models.md', 'npx kgwalk datasets get pathquestion', 'downloads'],
  ...['docs/reference/dependencies.md', 'docs/how-to/gpu.md'].map((page): [string, string, string] => [
    page,
    'npx kgwalk doctor',
    'that of README.md is run, and says the same',
  ]),
  [
    'docs/how-to/models.md',
    'kgwalk train opendialkg --model http',
    'asks a server; test/src/encoder/server-encoder.long.test.ts asks one',
  ],
  [
    'models/demo/README.md',
    'npx kgwalk models train',
    'takes an hour; test/cli/models-train.long.test.ts does it small',
  ],
  ['CONTRIBUTING.md', 'bash .ci/run', 'runs the tests'],
  ['docs/reference/guarantees.md', 'npm ', 'runs the tests'],
  ...['docker build', 'docker run'].map((begin): [string, string, string] => [
    'docs/reference/dependencies.md',
    begin,
    'wants Docker; test/packaging.long.test.ts reads the Dockerfile',
  ]),
  ...['docs/how-to/import-data.md', 'docs/what-the-labels-allow.md'].map((page): [string, string, string] => [
    page,
    'node dist/bench/annotators/main.js',
    'needs recurring turns, which the stand-in lacks; test/bench/annotators.long.test.ts runs it on some',
  ]),
  ['docs/how-to/sweeps.md', 'export KGWALK_STORE_SECRET', 'for Docker'],
  ['docs/how-to/sweeps.md', 'mkdir ', 'for Docker'],
  ['docs/how-to/sweeps.md', 'docker compose', 'wants Docker; test/packaging.long.test.ts reads compose.yaml'],
  ['docs/reference/dependencies.md', 'npm run sbom', 'asks npm; test/dependencies.long.test.ts runs it'],
  [
    'docs/methods/embeddings.md',
    'npx kgwalk embeddings import',
    'reads what another program has trained; test/agents/embeddings/import-table.test.ts makes such files',
  ],
  ...[
    'npx kgwalk datasets import triples --name fb --from DIR --unseen 0.33',
    'npx kgwalk train link-chains --set data.dataset=fb ',
    'npx kgwalk evaluate runs/chains --dataset fb-unseen',
    'npx kgwalk train link-messages --set data.dataset=fb --set exactWalker.messages.relations=names',
    'npx kgwalk evaluate runs/names ',
    'npx kgwalk evaluate --agent rules --set from=fb',
  ].map((begin): [string, string, string] => [
    'docs/methods/exact-walkers.md',
    begin,
    'our small world has too few entities to draw some apart; test/tasks/links/unseen-entities.long.test.ts has more',
  ]),
  ...[
    'kgwalk train link-chains --set data.dataset=fb ',
    'kgwalk evaluate RUN --dataset fb-unseen',
    'kgwalk train link-chains --set data.dataset=fb-v1 ',
    'kgwalk evaluate RUN --dataset fb-v1-unseen',
    'kgwalk train link-messages --set data.dataset=fbr ',
    'kgwalk evaluate RUN --dataset fbr-unseen',
  ].map((begin): [string, string, string] => [
    'docs/results.md',
    begin,
    'our small world has too few entities to draw some apart; test/tasks/links/unseen-entities.long.test.ts has more',
  ]),
  [
    'docs/results.md',
    'kgwalk train questions ',
    'wants PathQuestion; test/docs/how-to.long.test.ts trains the preset on a custom graph',
  ],
  [
    'docs/results.md',
    'kgwalk train student ',
    'wants an evaluation of train questions; test/docs/how-to.long.test.ts makes one',
  ],
  [
    'docs/methods/exact-walkers.md',
    'npx kgwalk evaluate --agent ensemble:',
    'wants two trained runs; test/tasks/links/ensemble.test.ts trains them',
  ],
  ['docs/how-to/sparql.md', 'kgwalk evaluate', 'asks an endpoint; test/src/kg/sparql/remote-graph.test.ts asks one'],
  [
    'docs/how-to/sparql.md',
    'kgwalk datasets get',
    'asks an endpoint; test/datasets/links/extract-links.test.ts asks one',
  ],
  ['docs/how-to/sparql.md', 'kgwalk train', 'trains on what the line above cut out; the same test plans it'],
  ...[
    'npx kgwalk datasets import triples --name v1',
    'npx kgwalk train link-messages --set data.dataset=v1',
    'npx kgwalk evaluate runs/v1',
  ].map((begin): [string, string, string] => [
    'docs/methods/exact-walkers.md',
    begin,
    'wants a second graph; test/datasets/links/import-links.test.ts has one',
  ]),
  ...['npx kgwalk compare zero-shot', 'npx kgwalk ask --agent zero-shot'].map((begin): [string, string, string] => [
    'docs/methods/exact-walkers.md',
    begin,
    'wants a second graph; test/tasks/links/ensemble.test.ts asks one',
  ]),
  ['docs/explanation/performance.md', 'npm run bench', 'takes a quarter of an hour and Python programs'],
  ...['docs/how-to/python.md', 'clients/python/README.md'].map((page): [string, string, string] => [
    page,
    'pip install ./clients/python',
    'installs a package; test/clients/python.long.test.ts reads the file where it lies',
  ]),
  ['docs/explanation/performance.md', 'python clients/python/bench.py', 'takes a minute and Python'],
  ['clients/python/README.md', 'export KGWALK=', 'sets a variable, as test/clients/python.long.test.ts does'],
  ['docs/how-to/reports.md', 'curl ', 'asks a server; test/serve/ask.test.ts asks one'],
  [
    'docs/how-to/python.md',
    'npx kgwalk serve env',
    'listens until it is stopped; test/serve/env/transports.test.ts stops it',
  ],
  ...['npx kgwalk checkpoint import sb3', 'npx kgwalk evaluate runs/theirs'].map((begin): [string, string, string] => [
    'docs/how-to/python.md',
    begin,
    'reads what a program in Python has trained; test/clients/python.long.test.ts does where there is Stable-Baselines3',
  ]),
  ...['npx kgwalk native install', 'npx kgwalk native remove'].map((begin): [string, string, string] => [
    'docs/how-to/gpu.md',
    begin,
    'downloads TensorFlow; test/e2e/native-install.long.test.ts does',
  ]),
];

/** Why a line is not run, or undefined where it is. */
export function reasonNotToRun(line: string, page: string): string | undefined {
  return lines.find(([of, begin]) => of === page && line.startsWith(begin))?.[2];
}

/** Entries of the list for lines that a page no longer has. */
export function forgottenExceptions(linesOf: (page: string) => readonly string[]): string[] {
  const gone = lines.filter(([page, begin]) => !linesOf(page).some((line) => line.startsWith(begin)));
  return gone.map(([page, begin]) => `${page}: ${begin}`);
}

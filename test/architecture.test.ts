import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix, sep } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { taskNames } from '../tasks/index.js';
import { replyFigures } from '../evaluation/replies.js';
import { copiedFigure } from '../evaluation/watch-decisions.js';
import { dialogueFigures } from '../tasks/dialogues/score.js';
import { linkFigures } from '../tasks/links/score.js';
import { questionFigures } from '../tasks/questions/score.js';
// @ts-expect-error plain JavaScript, shared with the lint configuration
import * as rules from '../layers.js';

const { importProblem, layerOf } = rules as {
  importProblem(file: string, specifier: string): string | undefined;
  layerOf(file: string): string | undefined;
};

const skipped = new Set(['node_modules', 'dist', 'runs', 'coverage', '.git', '.native']);

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : entry.isFile() ? [path] : [];
  });
}

const repository = filesUnder('.').map((file) => file.split(sep).join('/'));
const sources = repository.filter((file) => file.endsWith('.ts') && layerOf(file) !== undefined);
const text = (file: string) => readFileSync(file, 'utf8');

const withoutComments = (code: string) => code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

/** Every file of `files` in which `problem` sees one, with what it says. */
function offenders(files: string[], problem: (file: string) => string | boolean | undefined): string[] {
  return files.flatMap((file) => {
    const found = problem(file);
    return found ? [`${file}: ${found}`] : [];
  });
}

/** Files in circles of imports, or between two of them: all that remain when files that import none of the rest, or are imported by none, are removed. */
function filesInCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  let rest = [...imports.keys()];
  for (;;) {
    const left = new Set(rest);
    const imported = new Set(rest.flatMap((file) => imports.get(file)!));
    const next = rest.filter((file) => imported.has(file) && imports.get(file)!.some((other) => left.has(other)));
    if (next.length === rest.length) return rest;
    rest = next;
  }
}

const specifiers = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;

describe('the architecture', () => {
  test('has sources to look at', () => expect(sources.length).toBeGreaterThan(20));

  test('lets imports go one way only', () => {
    const backwards = (file: string) =>
      [...text(file).matchAll(specifiers)].map((match) => importProblem(file, match[1]!)).find(Boolean);
    expect(offenders(sources, backwards)).toEqual([]);
  });

  test('refuses an import against the direction', () => {
    expect(importProblem('src/kg/graph.ts', '../../agents/agent.js')).toBe('src/kg may not import agents');
    expect(importProblem('reports/page.ts', '../evaluation/records.js')).toBe('reports may not import evaluation');
    expect(importProblem('agents/agent.ts', '../src/kg/graph.js')).toBeUndefined();
  });

  test('finds no circles of imports, type-only and dynamic ones included', () => {
    const known = new Set(sources);
    const importsOf = (file: string) =>
      [...withoutComments(text(file)).matchAll(specifiers)].flatMap(([, specifier]) => {
        const target = posix.join(posix.dirname(file), specifier!.replace(/js$/, 'ts'));
        return specifier!.startsWith('.') && known.has(target) ? [target] : [];
      });
    expect(filesInCircles(new Map(sources.map((file) => [file, importsOf(file)])))).toEqual([]);
  });

  test('recognises circles of imports', () => {
    const graph = { a: ['b', 'd'], b: ['c'], c: ['a', 'd'], d: ['f'], e: ['a'], f: [] };
    expect(filesInCircles(new Map(Object.entries(graph)))).toEqual(['a', 'b', 'c']);
    expect(filesInCircles(new Map([['a', ['b']]]))).toEqual([]);
  });

  test('reads the path of an import at any position', () => {
    const code = "import type { A } from './a.js';\nexport * from './b.js';\nconst c = await import('./c.js');";
    expect([...code.matchAll(specifiers)].map((match) => match[1])).toEqual(['./a.js', './b.js', './c.js']);
  });

  test('keeps files to 450 lines', () => {
    expect(offenders(sources, (file) => text(file).split('\n').length > 451 && 'too long')).toEqual([]);
  });

  test('says what every export is that another folder uses', () => {
    const imported = /^(?:import|export) (?:type )?(\{[^}]*\}|\*)[^;]*? from '(\.[^']+)';/gm;
    const used = new Map<string, Set<string>>();
    for (const file of sources.filter((source) => !/^(test|bench)\//.test(source))) {
      for (const [, names, specifier] of text(file).matchAll(imported)) {
        const target = posix.join(posix.dirname(file), specifier!.replace(/js$/, 'ts'));
        if (posix.dirname(target) === posix.dirname(file) && basename(file) !== 'index.ts') continue;
        const known = used.get(target) ?? used.set(target, new Set()).get(target)!;
        for (const [name] of names!.matchAll(/\w+|\*/g)) known.add(name);
      }
    }
    const silent = /(?<!\*\/\n)^export (?:abstract |async )?(?:const|class|interface|type|function\*?) (\w+)/gm;
    const shown = (file: string, name: string) => used.get(file)?.has(name) || used.get(file)?.has('*');
    const nameless = (file: string) =>
      [...text(file).matchAll(silent)].map((match) => match[1]!).find((name) => shown(file, name));
    expect(offenders(sources, nameless)).toEqual([]);
  });

  test('names files in kebab-case, after what they hold', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(long\.)?test|\.d)?\.ts$/;
    const vague = /^(utils?|helpers?|common|misc)\.ts$/;
    expect(offenders(sources, (file) => !kebab.test(basename(file)) && 'not kebab-case')).toEqual([]);
    expect(offenders(sources, (file) => vague.test(basename(file)) && 'says nothing')).toEqual([]);
  });

  test('loads native parts by dynamic import only', () => {
    const native =
      /^import (?!type\b).*'(node-llama-cpp|lmdb|chartjs-node-canvas|@napi-rs\/canvas|@tensorflow\/[^']*node[^']*)'/m;
    const shipped = sources.filter((file) => !file.startsWith('test/'));
    expect(offenders(shipped, (file) => native.exec(text(file))?.[1])).toEqual([]);
  });

  describe('reaches beyond the process through the files that need it only', () => {
    const shipped = sources.filter((file) => !/^(test|bench)\//.test(file));

    test.each<[string, RegExp, string[]]>([
      [
        'other programs',
        /'(node:)?child_process'/,
        ['cli/native/install.ts', 'cli/quickstart/shown.ts', 'jobs/run-job.ts'],
      ],
      ['other programs through a shell', /\bshell:|\bexec(Sync)?\(['"`]/, []],
      [
        'addresses',
        /\bfetch\(/,
        ['serve/browser/dom.ts', 'src/kg/sparql/client.ts', 'src/llm/server-connection.ts', 'src/run/download.ts'],
      ],
      ['a queue', /import\('(bullmq|ioredis)'\)/, ['jobs/queue.ts']],
      ['a bucket', /import\('@aws-sdk/, ['jobs/s3-store.ts']],
      ['sockets', /'(node:)?net'/, ['serve/env/transports.ts', 'tasks/language-model.ts']],
      [
        'the network otherwise',
        /'(node:)?(http2?|https|tls|dgram|dns|undici|ws)(\/\w+)?'|WebSocket|EventSource/,
        ['serve/browser/state.ts', 'serve/server.ts'],
      ],
      ['servers', /createServer|createAdaptorServer|\.listen\(/, ['serve/env/transports.ts', 'serve/server.ts']],
      ['threads', /\bnew Worker\(/, ['src/run/worker-pool.ts']],
      ['text as code', /\beval\(|\bFunction\(|'(node:)?(vm|repl|inspector|cluster)(\/\w+)?'|dlopen/, []],
      ['code by a computed name', /(?<![.\w])import\((?!'[^']+'\)|\w+: )/, ['tasks/plugins.ts']],
      [
        'what only `require` finds, the built half of TensorFlow among it',
        /createRequire\(/,
        [
          'cli/native/install.ts',
          'datasets/generated/english.ts',
          'datasets/generated/vocabulary.ts',
          'reports/scripts.ts',
          'src/llm/llama-library.ts',
          'src/nn/tfjs/native-tensorflow.ts',
          'src/nn/tfjs/open.ts',
          'src/run/arrow.ts',
        ],
      ],
    ])('%s', (_, sign, doors) => {
      expect(shipped.filter((file) => sign.test(withoutComments(text(file)))).sort()).toEqual(doors);
    });

    test('temporary folders have names that cannot be guessed', () => {
      const guessable = (file: string) =>
        text(file)
          .replace(/mkdtempSync\(join\(tmpdir\(\), /g, '')
          .includes('tmpdir()');
      expect(offenders(shipped, (file) => guessable(file) && 'a name in the folder that all share')).toEqual([]);
    });
  });

  describe('writes a task once, in tasks/', () => {
    const shipped = sources.filter((file) => !/^(test|bench|models)\//.test(file));
    const name = `'(?:${taskNames.join('|')})'`;
    const env = "'kgwalk/[A-Z][^']*'|\\w*(?:dialogueWalkId|relationWalkId|linkQueryId)\\b";
    const branch = new RegExp(
      `(?:[!=]==?|\\bcase)\\s*(?:${name}|${env})|(?:${name}|${env})\\s*[!=]==?|\\[(?:${name}|${env})[^\\]]*\\]\\.includes\\(`,
    );
    const branches = (code: string) => branch.exec(withoutComments(code))?.[0];

    test('nothing else asks which task it has before it', () => {
      const others = shipped.filter((file) =>
        /^(cli|trainers|evaluation|reports|checkpoints|src|presets)\//.test(file),
      );
      expect(others.length).toBeGreaterThan(100);
      expect(offenders(others, (file) => branches(text(file)))).toEqual([]);
    });

    test.each([
      "if (task.name === 'links') return;",
      "const one = 'questions' !== kind ? 1 : 2;",
      "switch (kind) { case 'dialogues': }",
      'const overEdges = settings.env.id !== relationWalkId;',
      'return env?.id === relationWalkId ? 1 : 2;',
      "if (id == 'kgwalk/LinkQuery-v1') return;",
      "if (['dialogues', 'questions'].includes(kind)) return;",
    ])('sees %j', (code) => expect(branches(code)).toBeDefined());

    test.each(["// if (kind === 'links')", "const names = ['dialogues', 'links'];", "if (word === 'link') return;"])(
      'lets %j be',
      (code) => expect(branches(code)).toBeUndefined(),
    );

    /** Product files that spell a figure's key as a separate text, with `eval/` before it or without. */
    const spelling = (keys: readonly string[], mayBe: (file: string) => boolean) => {
      const spelled = new RegExp(`['"\`/](?:${keys.join('|').replaceAll('.', '\\.')})['"\`]`);
      return shipped.filter((file) => !mayBe(file) && spelled.test(withoutComments(text(file))));
    };

    /** Tables of papers are of one task, in any report. */
    const isOfPapers = (file: string) => file.startsWith('reports/papers/');

    test('a figure of dialogues is named where it is counted, and nowhere else', () => {
      const shared = [copiedFigure, ...replyFigures];
      const figures = dialogueFigures([1, 3, 5, 10, 25], true).filter((figure) => !shared.includes(figure));
      const keys = figures.flatMap(({ key }) => (key === 'mrr' ? [] : [key]));
      expect(keys).toContain('path@1');
      const own = (file: string) => file === 'tasks/dialogues/score.ts' || isOfPapers(file);
      expect(spelling(keys, own)).toEqual([]);
      expect(spelling(['path@1'], () => false)).toEqual(['tasks/dialogues/score.ts']);
    });

    // What computes a metric names it, too; TransE is tested on dialogues by the ranks that links have.
    test.each<[string, readonly { key: string }[], string[]]>([
      ['questions', questionFigures, ['src/metrics/answers.ts']],
      ['links', linkFigures(3), ['src/embedding/rank-links.ts', 'tasks/dialogues/pretrain.ts']],
    ])('figures of %s stay in the folder of the task', (task, figures, metrics) => {
      const keys = figures.flatMap(({ key }) => (/[@.-]/.test(key) ? [key] : []));
      expect(keys.length).toBeGreaterThan(4);
      const trains = (file: string) => /^agents\/[\w-]+\/train\.ts$/.test(file);
      const counts = (file: string) => file.startsWith(`tasks/${task}/`) || trains(file) || metrics.includes(file);
      expect(spelling(keys, (file) => counts(file) || isOfPapers(file))).toEqual([]);
    });
  });

  test('loads nothing but commander to show the help', () => {
    const seen = new Set(['cli/main.ts', 'cli/program.ts']);
    const packages = new Set<string>();
    for (const file of seen) {
      for (const [, specifier] of text(file).matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)'/gm)) {
        if (specifier!.startsWith('.')) seen.add(posix.join(posix.dirname(file), specifier!.replace(/js$/, 'ts')));
        else if (!specifier!.startsWith('node:')) packages.add(specifier!);
      }
    }
    expect([...packages]).toEqual(['commander']);
  });

  test('names no folder of anybody’s machine', () => {
    const machine = new RegExp(['/(?:ho', 'me|wo', 'rk|ro', 'ot)/[a-z]|\\.\\./sha', 'red\\b'].join(''));
    const plain = repository.filter(
      (file) => /\.(ts|js|json|md|ya?ml|eta)$/.test(file) && file !== 'package-lock.json',
    );
    expect(offenders(plain, (file) => machine.exec(text(file))?.[0])).toEqual([]);
  });

  test('has a lock file without a registry', () => {
    const { packages } = JSON.parse(text('package-lock.json')) as { packages: Record<string, { resolved?: string }> };
    const hosts = Object.entries(packages).filter(([, entry]) => entry.resolved?.startsWith('http'));
    expect(hosts).toEqual([]);
  });
});

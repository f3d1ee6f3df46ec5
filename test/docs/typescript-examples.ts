/** The TypeScript of the documentation: whether it fits the library, and what it prints. */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { jest } from '@jest/globals';
import ts from 'typescript';
import { folderWith } from '../fixtures/tiny-release.js';
import type { Example } from './examples.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** An agent of one's own lies three folders deep, and its example imports as from there. */
const place = join('agents', 'prompted', 'example');
const { exports } = createRequire(import.meta.url)('../../package.json') as {
  exports: Record<string, { types?: string }>;
};

/** The declarations of every entry such as `kgwalk/agents`, as built. */
const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(exports).flatMap(([name, { types }]) =>
    types === undefined ? [] : [[name.replace('.', 'kgwalk'), join(root, types)]],
  ),
);

/**
 * Checks all examples in one program, as strictly as a new project of `tsc --init` would, by the declarations that the package has.
 * @returns `page:line: message` for every mistake
 */
export function typeErrors(examples: readonly Example[]): string[] {
  const files = new Map(examples.map((example, i) => [join(root, 'dist', place, `example-${i}.ts`), example]));
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [file]])),
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.getSourceFile = (name, target, ...rest) =>
    files.has(name)
      ? ts.createSourceFile(name, files.get(name)!.text, target)
      : getSourceFile.call(host, name, target, ...rest);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([name, { page, line }]) => {
    const source = program.getSourceFile(name)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((problem) => {
      const at = source.getLineAndCharacterOfPosition(problem.start ?? 0).line;
      return `${page}:${line + at}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`;
    });
  });
}

/** Imports an example over the sources. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export async function importTypeScript(text: string): Promise<Record<string, any>> {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  });
  const file = join(folderWith({}), 'example.mjs');
  writeFileSync(file, overSources(outputText));
  return (await import(pathToFileURL(file).href)) as object;
}

/** Runs an example over the sources, from the working folder. @returns what it logs */
export async function runTypeScript(text: string): Promise<string> {
  let printed = '';
  const spy = jest.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
    printed += `${values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ')}\n`;
  });
  try {
    await importTypeScript(text);
  } finally {
    spy.mockRestore();
  }
  return printed;
}

/** JavaScript whose imports of the library lead to its sources. */
export function overSources(text: string): string {
  return text.replaceAll(/(from|import) '([^']+)'/g, (_, word, name) => `${word} '${found(name as string)}'`);
}

function found(name: string): string {
  if (name in entries) return entries[name]!.replace(join(root, 'dist/'), root).replace('.d.ts', '.ts');
  if (name.startsWith('.')) return join(root, place, name.replace(/\.js$/, '.ts'));
  if (name.startsWith('node:')) return name;
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return name; // of a package that readers install themselves
  }
}

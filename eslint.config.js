import { relative, sep } from 'node:path';
import tseslint from 'typescript-eslint';
import { importProblem } from './layers.js';

const root = import.meta.dirname;

/** Holds the directions of layers.js for static and dynamic imports and re-exports. */
const direction = {
  create(context) {
    const file = relative(root, context.filename).split(sep).join('/');
    const check = ({ source }) => {
      const problem = typeof source?.value === 'string' && importProblem(file, source.value);
      if (problem) context.report({ node: source, message: problem });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};

const opening = /^\*\s*(What|Whether|How|Where|Who|Whom|Whose|Of|Told|As)\b/;
const avoided = /\b(anew|afresh|whoever|whomever|nobody|somebody|slopes?|by heart|to be had|tells?|told)\b/i;

/** Keeps comments in plain English: docstrings open with a noun or an imperative, and some words have plainer ones. */
const plainWords = {
  create({ sourceCode, report }) {
    return {
      Program() {
        for (const comment of sourceCode.getAllComments()) {
          const [, word] = opening.exec(comment.value) ?? [];
          if (word) report({ loc: comment.loc, message: `Open with a noun or an imperative, not with “${word}”.` });
          const [found] = avoided.exec(comment.value) ?? [];
          if (found)
            report({ loc: comment.loc, message: `Replace “${found}” by a plain word (CONTRIBUTING.md, Style).` });
        }
      },
    };
  },
};

const noRandom = { object: 'Math', property: 'random', message: 'Draw from an Rng of src/run/seeds.ts.' };
const noExit = { object: 'process', property: 'exit', message: 'Only cli/ exits; throw a WorkbenchError.' };
const noDefault = { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' };

export default tseslint.config(
  { ignores: ['dist/', 'runs/', 'coverage/', 'docs/api/', '.native/'] },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.ts'],
    extends: [tseslint.configs.recommended],
    // Text never becomes code. What reaches beyond the process stands in test/architecture.test.ts.
    rules: { 'no-eval': 'error', 'no-implied-eval': 'error', 'no-new-func': 'error', 'no-script-url': 'error' },
  },
  {
    files: ['**/*.ts'],
    plugins: { layers: { rules: { direction } }, plain: { rules: { words: plainWords } } },
    rules: {
      'plain/words': 'error',
      'layers/direction': 'error',
      'max-lines': ['error', { max: 450 }],
      'no-console': 'error',
      'no-restricted-properties': ['error', noRandom, noExit],
      'no-restricted-syntax': ['error', noDefault],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['cli/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts'],
    rules: { 'no-console': 'off', 'no-restricted-properties': ['error', noRandom] },
  },
  // AssemblyScript's own compiler checks its sources.
  { files: ['src/nn/simd/assembly/*.ts'], rules: { '@typescript-eslint/ban-ts-comment': 'off' } },
  { files: ['shims/**/*.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
);

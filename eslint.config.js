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
    plugins: { layers: { rules: { direction } } },
    rules: {
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
  { files: ['shims/**/*.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
);

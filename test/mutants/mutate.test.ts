/** The mutants that `npm run test:mutants` tries. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
// @ts-expect-error plain JavaScript, as jest loads it beside the tests
import * as list from './groups.mjs';
// @ts-expect-error plain JavaScript, as jest loads it beside the tests
import * as mutators from './mutate.mjs';

interface Mutant {
  line: number;
  kind: string;
  text: string;
  key: string;
}

const { groups } = list as { groups: Record<string, [file: string, tests: string[]][]> };
const { mutantsOf, mutated } = mutators as {
  mutantsOf(file: string, source: string): Mutant[];
  mutated(source: string, mutant: Mutant): string;
};

const of = (source: string) => mutantsOf('a.ts', source).map((mutant) => mutated(source, mutant));

describe('mutants of a source', () => {
  test('change operators, conditions, constants, calls and statements, one at a time', () => {
    expect(of('if (a < 1) b();')).toEqual([
      'if (true) b();',
      'if (false) b();',
      'if (a <= 1) b();',
      'if (a >= 1) b();',
      'if (a < (1 + 1)) b();',
      'if (a < 1) ;',
    ]);
    expect(of('const x = y ? Math.min(a, -b) : c ?? d;')).toEqual([
      'const x = true ? Math.min(a, -b) : c ?? d;',
      'const x = false ? Math.min(a, -b) : c ?? d;',
      'const x = y ? Math.max(a, -b) : c ?? d;',
      'const x = y ? Math.min(a, (b)) : c ?? d;',
      'const x = y ? Math.min(a, -b) : c;',
      'const x = y ? Math.min(a, -b) : (d);',
    ]);
    expect(of('const k = names.filter(isShort);')).toEqual(['const k = names;']);
    expect(of('for (const x of xs) { if (!x) continue; }')).toContain('for (const x of xs) { if (!x) ; }');
  });

  test('leave types, imports, comments and what errors say alone', () => {
    const kept = [
      "import { a } from './a-1.js';",
      '/** 1 < 2 */ type T = 1 | 2;',
      'interface I { a: 1 }',
      "export * from './b.js';",
    ];
    expect(kept.flatMap(of)).toEqual([]);
    expect(of("throw new WorkbenchError('usage', `got ${1 + n}`);")).toEqual([';']);
    expect(of("const text = 'a' + b;")).toEqual([]);
  });

  test('of the listed files can all be read, and their tests are there', () => {
    for (const [file, tests] of Object.values(groups).flat()) {
      expect([file, ...tests].filter((one) => !existsSync(one))).toEqual([]);
      const source = readFileSync(file, 'utf8');
      for (const mutant of mutantsOf(file, source).filter((_, i) => i % 40 === 0)) {
        const { diagnostics } = ts.transpileModule(mutated(source, mutant), { reportDiagnostics: true });
        expect([mutant.key, diagnostics]).toEqual([mutant.key, []]);
      }
    }
  });
});

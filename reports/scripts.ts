/** Browser code of the page: chart.js's own build and the modules of `reports/browser/`, joined into one text. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const here = import.meta.dirname;

/** Compiled files: next to this one, or in the build folder for tests that run from sources. */
const compiled = existsSync(join(here, 'browser', 'page.js')) ? here : join(here, '..', 'dist', 'reports');

/** chart.js for browsers: defines the global `Chart`; begins with its licence comment. */
export function chartLibrary(): string {
  const main = createRequire(import.meta.url).resolve('chart.js');
  return readFileSync(join(dirname(main), 'chart.umd.min.js'), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

/**
 * Bundles a module and its imports into one module: one scope per module, exports at the end.
 * @param entry path without extension, from `reports/`, such as `browser/page` or `browser/charts`
 */
export function browserModule(entry: string): string {
  const scopes: string[] = [];
  const places = new Map<string, number>();
  /** @returns variable that holds the module's exports */
  const add = (file: string): string => {
    const known = places.get(file);
    if (known !== undefined) return `module${known}`;
    const code = readFileSync(file, 'utf8').replace(imports, (_, names: string, from: string) => {
      return `const {${names.replaceAll(' as ', ': ')}} = ${add(join(dirname(file), from))};\n`;
    });
    const name = `module${scopes.length}`;
    places.set(file, scopes.length);
    scopes.push(
      `const ${name} = (() => {\n${code.replace(/^export /gm, '')}return { ${exportsOf(code).join(', ')} };\n})();\n`,
    );
    return name;
  };
  const file = join(compiled, `${entry}.js`);
  const name = add(file);
  return `${scopes.join('')}export const { ${exportsOf(readFileSync(file, 'utf8')).join(', ')} } = ${name};\n`;
}

const imports = /^import \{([^}]*)\} from '(\.[^']+)';\n/gm;

const exportsOf = (code: string) => [...code.matchAll(/^export (?:function|const) (\w+)/gm)].map(([, name]) => name!);

/** `script-src` source that allows exactly one inline script. @param script text between the tags */
export function hashSource(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

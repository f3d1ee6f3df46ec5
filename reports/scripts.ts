/** Browser code of both pages: chart.js's own build, and a module with all that it imports, joined into one text. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { packageRoot } from '../src/run/locations.js';

/** chart.js for browsers: defines the global `Chart`; begins with its licence comment. */
export function chartLibrary(): string {
  const main = createRequire(import.meta.url).resolve('chart.js');
  return readFileSync(join(dirname(main), 'chart.umd.min.js'), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

/**
 * Bundles a module and its imports into one module: one scope per module, exports at the end.
 * @param entry path without extension, such as `reports/browser/page`
 * @throws {WorkbenchError} `failure` if the program was not built
 */
export function browserModule(entry: string): string {
  const scopes: string[] = [];
  const places = new Map<string, number>();
  /** @returns variable that holds the module's exports */
  const add = (file: string): string => {
    const known = places.get(file);
    if (known !== undefined) return `module${known}`;
    if (!existsSync(file)) {
      throw new WorkbenchError('failure', `expected the page's scripts, got none, at ${file}`, {
        hint: 'They come with the package; in a clone `npm run build` makes them.',
      });
    }
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
  const file = join(packageRoot(), 'dist', `${entry}.js`);
  const name = add(file);
  return `${scopes.join('')}export const { ${exportsOf(readFileSync(file, 'utf8')).join(', ')} } = ${name};\n`;
}

const imports = /^import \{([^}]*)\} from '(\.[^']+)';\n/gm;

const exportsOf = (code: string) =>
  [...code.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(([, name]) => name!);

/** `script-src` source that allows exactly one inline script. @param script text between the tags */
export function hashSource(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

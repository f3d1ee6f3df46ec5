/** Browser code of pages: chart.js's own build, and modules with all that they import, joined into one text. */
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
 * Bundles a module and its imports into one module: one scope per module, exports at the end. Of every other module there is what the first one
 * reaches, so that code for Node can be bundled where the part that is reached is pure.
 * @param entry path without extension, such as `reports/browser/page`
 * @param standIns a module whose exports take the place of those of packages; any other export of a package throws once it is called
 * @throws {WorkbenchError} `failure` if the program was not built
 */
export function browserModule(entry: string, standIns?: string): string {
  const built = (path: string) => join(packageRoot(), 'dist', `${path}.js`);
  const modules = new Map<string, Module>();
  const open = (file: string): Module => {
    const module = modules.get(file) ?? readModule(file, modules.size);
    modules.set(file, module);
    return module;
  };
  const needImport = (module: Module, name: string, { from, exported }: Import) => {
    const file = from.startsWith('.') ? join(dirname(module.file), from) : standIns && built(standIns);
    const of = file ? open(file) : undefined;
    const has = of?.exported.has(exported) === true;
    if (from.startsWith('.') && !has) throw new Error(`expected a declaration of ${exported}, got none, at ${file}`);
    if (has) needName(of, exported);
    module.taken.set(name, has ? of : undefined);
  };
  const needName = (module: Module, name: string) => {
    const imported = module.imports.get(name);
    if (imported) return module.taken.has(name) || needImport(module, name, imported);
    const statement = module.declared.get(name);
    if (statement !== undefined) needStatement(module, statement);
  };
  const needStatement = (module: Module, statement: string) => {
    if (module.needed.has(statement)) return;
    module.needed.add(statement);
    for (const [word] of statement.matchAll(words)) needName(module, word);
  };
  const scopes = new Map<Module, string>();
  const write = (module: Module) => {
    if (scopes.has(module)) return;
    const given = [...module.taken].map(([name, of]) => {
      const { from, exported } = module.imports.get(name)!;
      if (of) write(of);
      return `const ${name} = ${of ? `${of.name}.${exported}` : `absent('${exported} of ${from}')`};\n`;
    });
    const code = module.statements.filter((statement) => module.needed.has(statement));
    const exported = [...module.exported].filter((name) => module.needed.has(module.declared.get(name)!));
    const body = [...given, ...code.map((statement) => statement.replace(/^export /, ''))].join('');
    scopes.set(module, `const ${module.name} = (() => {\n${body}return { ${exported.join(', ')} };\n})();\n`);
  };
  const whole = (path: string) => {
    const module = open(built(path));
    for (const statement of module.statements) needStatement(module, statement);
    write(module);
    return module;
  };
  if (standIns) whole(standIns);
  const first = whole(entry);
  const exports = `export const { ${[...first.exported].join(', ')} } = ${first.name};\n`;
  return `${absent}${[...scopes.values()].join('')}${exports}`;
}

const absent = `const absent = (what) => function () { throw new Error(what + ' is not in this page'); };\n`;

/** A named import. */
type Import = { from: string; exported: string };

/** A compiled module as its statements. */
interface Module {
  file: string;
  name: string;
  /** Those at the top, in order; one that declares nothing belongs to the one before it. */
  statements: string[];
  /** Statement by each name that it declares. */
  declared: Map<string, string>;
  imports: Map<string, Import>;
  exported: Set<string>;
  /** Statements that are reached. */
  needed: Set<string>;
  /** Imports that are reached; undefined: of a package. */
  taken: Map<string, Module | undefined>;
}

/** Identifiers, fields of objects aside. */
const words = /(?<![\w$]|(?<!\.)\.)[A-Za-z_$][\w$]*/g;
const beginnings = /^(?=(?:import|export|async function|function|class|const|let)\b[ *])/m;
const declaration = /^(export )?(?:async )?(?:(?:const|let) ([{[][^=]*)|(?:function\*?|class|const|let) ([\w$]+))/;

function readModule(file: string, index: number): Module {
  if (!existsSync(file)) {
    throw new WorkbenchError('failure', `expected the page's scripts, got none, at ${file}`, {
      hint: 'They come with the package; in a clone `npm run build` makes them.',
    });
  }
  const code = readFileSync(file, 'utf8').replace(/^ *(\/\*\*[^]*?\*\/|\/\/.*)\n/gm, '');
  const module: Module = {
    ...{ file, name: `module${index}`, statements: [], declared: new Map(), imports: new Map() },
    ...{ exported: new Set(), needed: new Set(), taken: new Map() },
  };
  for (const statement of code.split(beginnings)) {
    const [, imported, from] = /^import \{([^}]*)\} from '([^']+)';/.exec(statement) ?? [];
    for (const one of imported?.split(',') ?? []) {
      const [exported, local = exported] = one.trim().split(' as ') as [string, string?];
      if (exported !== '') module.imports.set(local, { from: from!, exported });
    }
    const code = statement.replace(/^(import [^;]*|export \{\});\n*/, '');
    if (code === '') continue;
    module.statements.push(code);
    const [, isExported, list, name] = declaration.exec(code) ?? [];
    const names = name ? [name] : [...(list ?? '').matchAll(/([\w$]+)\s*[,}\]]/g)].map(([, one]) => one!);
    for (const one of names) {
      module.declared.set(one, code);
      if (isExported) module.exported.add(one);
    }
  }
  return module;
}

/** `script-src` source that allows exactly one inline script. @param script text between the tags */
export function hashSource(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

/**
 * Every mutant of a source: one small change of what it does, made on TypeScript's syntax tree, so that comments, types,
 * imports and the words of errors stay as they are.
 */
import ts from 'typescript';

const kinds = ts.SyntaxKind;

/** What stands for an operator, one mutant each. */
const operators = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
};

/** What stands for the method that is called; '' leaves the call out. */
const methods = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  round: 'floor',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  filter: '',
  slice: '',
  subarray: '',
  sort: '',
  reverse: '',
  trim: '',
  toLowerCase: '',
};

const isText = (node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || (ts.isBinaryExpression(node) && isText(node.left));

/** Types, imports and what an error says: nothing in them is changed. */
function isKept(node) {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    (ts.isNewExpression(node) && /Error$/.test(node.expression.getText())) ||
    (ts.isCallExpression(node) && /^(describe|settings|z)\b/.test(node.expression.getText()))
  );
}

/**
 * @param {string} file its name, for the mutants
 * @param {string} source TypeScript
 * @returns {{file: string, line: number, kind: string, start: number, end: number, text: string, key: string}[]} in the
 * order of the source; characters `start` to `end` become `text`
 */
export function mutantsOf(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true);
  const lines = source.split('\n');
  const found = [];
  const add = (kind, node, text, start = node.getStart(tree), end = node.getEnd()) => {
    const { line } = tree.getLineAndCharacterOfPosition(start);
    const was = source.slice(start, end).replace(/\s+/g, ' ');
    const key = `${file} | ${lines[line].trim()} | ${was} → ${text}`;
    found.push({ file, line: line + 1, kind, start, end, text, key });
  };
  const condition = (node) => {
    if (node.kind !== kinds.TrueKeyword && node.kind !== kinds.FalseKeyword)
      for (const value of ['true', 'false']) add('condition', node, value);
  };

  const visit = (node) => {
    if (isKept(node)) return;
    if (ts.isBinaryExpression(node)) {
      const sign = node.operatorToken.getText(tree);
      if (sign === '??') {
        add('default', node, node.left.getText(tree));
        add('default', node, `(${node.right.getText(tree)})`);
      } else if (!isText(node)) {
        for (const other of operators[sign] ?? []) add('operator', node.operatorToken, other);
      }
    } else if (ts.isPrefixUnaryExpression(node)) {
      if (node.operator === kinds.ExclamationToken || node.operator === kinds.MinusToken)
        add('operator', node, `(${node.operand.getText(tree)})`);
    } else if (ts.isIfStatement(node)) {
      condition(node.expression);
    } else if (ts.isConditionalExpression(node)) {
      condition(node.condition);
    } else if (ts.isWhileStatement(node) || (ts.isForStatement(node) && node.condition)) {
      add('condition', node.expression ?? node.condition, 'false');
    } else if (ts.isNumericLiteral(node)) {
      if (!ts.isPropertyAssignment(node.parent) || node.parent.name !== node)
        add('constant', node, `(${node.text} + 1)`);
    } else if (node.kind === kinds.TrueKeyword || node.kind === kinds.FalseKeyword) {
      add('constant', node, node.kind === kinds.TrueKeyword ? 'false' : 'true');
    } else if (ts.isExpressionStatement(node)) {
      add('statement', node, ';');
    } else if (
      (ts.isReturnStatement(node) && !node.expression) ||
      ts.isContinueStatement(node) ||
      ts.isBreakStatement(node) ||
      ts.isThrowStatement(node)
    ) {
      add('statement', node, ';');
    } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      const other = Object.hasOwn(methods, name.text) ? methods[name.text] : undefined;
      if (other) add('method', name, other);
      else if (other === '') add('method', node, expression.getText(tree));
    }
    ts.forEachChild(node, (child) => {
      if (!ts.isThrowStatement(node)) visit(child);
    });
  };
  visit(tree);
  return found;
}

/** The source with a mutant put in. */
export function mutated(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

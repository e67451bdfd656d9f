// Finds every small change that the mutation test can make to a source file: one operator, literal, condition or
// statement at a time, found in the syntax tree, so that types, comments, strings and imports stay as they are.
import { readFileSync } from "node:fs";
import * as path from "node:path";
import {
  type BinaryExpression,
  type Block,
  type Identifier,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import {
  isBinaryExpression,
  isBlock,
  isExpressionStatement,
  isFunctionLikeDeclaration,
  isIdentifier,
  isIfStatement,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isReturnStatement,
  isTypeNode,
} from "typescript/unstable/ast/is";
import { API } from "typescript/unstable/sync";

export interface Mutation {
  /** Relative to the root of the project. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The text from `start` up to `end` becomes `replacement`. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** For people: what becomes what. */
  readonly change: string;
}

type Change = Pick<Mutation, "start" | "end" | "replacement">;

const operators: ReadonlyMap<SyntaxKind, string> = new Map([
  [SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [SyntaxKind.AmpersandAmpersandToken, "||"],
  [SyntaxKind.BarBarToken, "&&"],
  [SyntaxKind.LessThanToken, "<="],
  [SyntaxKind.LessThanEqualsToken, "<"],
  [SyntaxKind.GreaterThanToken, ">="],
  [SyntaxKind.GreaterThanEqualsToken, ">"],
  [SyntaxKind.PlusToken, "-"],
  [SyntaxKind.MinusToken, "+"],
  [SyntaxKind.AsteriskToken, "/"],
  [SyntaxKind.SlashToken, "*"],
]);

const methods: ReadonlyMap<string, string> = new Map([
  ["every", "some"],
  ["some", "every"],
  ["min", "max"],
  ["max", "min"],
]);

/** Who may say less is no mistake that a test should find. */
const logs = /\blog(ged)?\b/;

/** The mutations of these files of a project, in the order of the text. */
export function mutationsOf(root: string, files: readonly string[]): Mutation[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [path.join(root, "tsconfig.json")] }).getProjects();
    return files.flatMap((file) => {
      const source = project?.program.getSourceFile(path.join(root, file));
      if (source === undefined) throw new Error(`${file} is not part of the project`);
      return changesIn(source).map((change) => ({ file, ...change, ...described(source, change) }));
    });
  } finally {
    api.close();
  }
}

/** Those that compile, in the same order: what the compiler refuses is no mistake that a test has to notice. */
export function* compilingOf(root: string, mutations: Iterable<Mutation>): Generator<Mutation> {
  let mutated: { readonly file: string; readonly text: string } | undefined;
  const readFile = (file: string): string | undefined => (file === mutated?.file ? mutated.text : undefined);
  const api = new API({ cwd: root, fs: { readFile } });
  try {
    api.updateSnapshot({ openProjects: [path.join(root, "tsconfig.json")] });
    for (const mutation of mutations) {
      const file = path.join(root, mutation.file);
      const changed = { fileChanges: { changed: [file] } };
      mutated = { file, text: mutatedText(readFileSync(file, "utf8"), mutation) };
      const [project] = api.updateSnapshot(changed).getProjects();
      if (project === undefined) throw new Error("the project is gone");
      const { program } = project;
      if (program.getSyntacticDiagnostics(file).length + program.getSemanticDiagnostics(file).length === 0)
        yield mutation;
      // Or it would be there still when another file is read.
      mutated = undefined;
      api.updateSnapshot(changed);
    }
  } finally {
    api.close();
  }
}

export function mutatedText(sound: string, { start, end, replacement }: Change): string {
  return `${sound.slice(0, start)}${replacement}${sound.slice(end)}`;
}

function changesIn(source: SourceFile): Change[] {
  const changes: Change[] = [];
  const visit = (node: Node): void => {
    if (node.kind === SyntaxKind.ImportDeclaration || isTypeNode(node)) return;
    if (node.kind === SyntaxKind.InterfaceDeclaration || node.kind === SyntaxKind.TypeAliasDeclaration) return;
    changes.push(...changesOf(node, source));
    node.forEachChild(visit);
  };
  visit(source);
  return changes.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

function changesOf(node: Node, source: SourceFile): Change[] {
  const text = (of: Node): string => source.text.slice(of.getStart(source), of.end);
  const replaced = (of: Node, replacement: string): Change => ({
    start: of.getStart(source),
    end: of.end,
    replacement,
  });
  if (node.kind === SyntaxKind.TrueKeyword) return [replaced(node, "false")];
  if (node.kind === SyntaxKind.FalseKeyword) return [replaced(node, "true")];
  if (isBinaryExpression(node)) return changedOperator(node).map((to) => replaced(node.operatorToken, to));
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    return [replaced(node, text(node.operand))];
  if (isPropertyAccessExpression(node) && isIdentifier(node.name))
    return changedMethod(node.name).map((to) => replaced(node.name, to));
  // A guard that lets everything pass.
  if (isIfStatement(node) && node.elseStatement === undefined && isReturn(node.thenStatement))
    return [replaced(node.expression, "false")];
  // Not a bare semicolon: the compiler refuses that as the body of an `if`.
  if (isExpressionStatement(node) && !logs.test(text(node))) return [replaced(node, "{}")];
  if (isFunctionLikeDeclaration(node) && node.body !== undefined && isBlock(node.body))
    return doingNothing(node.body, source);
  return [];
}

/** Texts are joined with a plus, too, and a minus between them means nothing. */
function changedOperator({ operatorToken, left, right }: BinaryExpression): string[] {
  const to = operators.get(operatorToken.kind);
  const isText = [left, right].some(
    ({ kind }) =>
      kind === SyntaxKind.StringLiteral ||
      kind === SyntaxKind.TemplateExpression ||
      kind === SyntaxKind.NoSubstitutionTemplateLiteral,
  );
  return to === undefined || (operatorToken.kind === SyntaxKind.PlusToken && isText) ? [] : [to];
}

function changedMethod({ text }: Identifier): string[] {
  const to = methods.get(text);
  return to === undefined ? [] : [to];
}

function isReturn(statement: Node): boolean {
  if (isReturnStatement(statement)) return true;
  return isBlock(statement) && statement.statements.some(isReturnStatement);
}

/** A function that may answer undefined, or that answers nothing, ends before it begins. */
function doingNothing(body: Block, source: SourceFile): Change[] {
  const returns: Node[] = [];
  const visit = (node: Node): void => {
    if (isReturnStatement(node)) returns.push(node);
    if (!isFunctionLikeDeclaration(node)) node.forEachChild(visit);
  };
  body.forEachChild(visit);
  const said = returns.map((one) => source.text.slice(one.getStart(source), one.end));
  if (returns.length > 0 && !said.some((one) => /^return( undefined)?;$/.test(one))) return [];
  const [first] = body.statements;
  if (first === undefined || isReturnStatement(first)) return [];
  const start = first.getStart(source);
  return [{ start, end: start, replacement: "return undefined; " }];
}

function described(source: SourceFile, { start, end, replacement }: Change): Omit<Mutation, keyof Change | "file"> {
  const before = source.text.slice(0, start);
  const line = before.split("\n").length;
  const column = start - before.lastIndexOf("\n");
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 60);
  const was = short(source.text.slice(start, end));
  return { line, column, change: was === "" ? `+ ${short(replacement)}` : `${was} → ${short(replacement)}` };
}

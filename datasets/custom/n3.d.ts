/** Types of the used part of n3, which has none. */
declare module 'n3' {
  export interface Term {
    termType: 'NamedNode' | 'BlankNode' | 'Literal' | 'Quad';
    value: string;
    /** For literals: lower case, `''` for none. */
    language?: string;
  }

  export interface Quad {
    subject: Term;
    predicate: Term;
    object: Term;
  }

  export const DataFactory: { blankNode(name: string): Term };

  interface Callbacks {
    onQuad(error: (Error & { context?: { line?: number } }) | null, quad: Quad | null): void;
    onComment?(): void;
    onToken?(token: { type: string }): void;
  }

  export interface TextSource {
    on(event: 'data' | 'end' | 'error', listener: (text: string) => void): void;
  }

  export class Parser {
    constructor(options: { format: string; blankNodePrefix?: string; factory?: object });
    parse(text: string): Quad[];
    parse(source: TextSource, callbacks: Callbacks): void;
  }
}

/** The parts of a parsed template. `offset` points into the source, for messages. */
export type Node = TextNode | ActionNode | BranchNode | RangeNode | { readonly kind: 'break' } | { readonly kind: 'continue' };

export interface TextNode {
  readonly kind: 'text';
  readonly text: string;
}

export interface ActionNode {
  readonly kind: 'action';
  readonly pipe: PipeNode;
}

/** `if` and `with`. */
export interface BranchNode {
  readonly kind: 'if' | 'with';
  readonly pipe: PipeNode;
  readonly then: readonly Node[];
  readonly otherwise: readonly Node[];
}

export interface RangeNode {
  readonly kind: 'range';
  readonly pipe: PipeNode;
  readonly then: readonly Node[];
  readonly otherwise: readonly Node[];
}

export interface PipeNode {
  readonly kind: 'pipe';
  readonly offset: number;
  readonly end: number;
  /** The slots of the variables declared or assigned: none, one, or two in a range. */
  readonly slots: readonly number[];
  readonly commands: readonly CommandNode[];
}

export interface CommandNode {
  readonly offset: number;
  readonly end: number;
  readonly operands: readonly [Operand, ...Operand[]];
}

export type Operand =
  | { readonly kind: 'dot' | 'nil'; readonly offset: number; readonly end: number }
  | { readonly kind: 'string'; readonly value: string; readonly offset: number; readonly end: number }
  | { readonly kind: 'bool'; readonly value: boolean; readonly offset: number; readonly end: number }
  | { readonly kind: 'number'; readonly value: number; readonly float: boolean; readonly offset: number; readonly end: number }
  | FieldOperand
  | VariableOperand
  | { readonly kind: 'function'; readonly name: string; readonly offset: number; readonly end: number }
  | { readonly kind: 'chain'; readonly of: Operand; readonly names: readonly string[]; readonly offset: number; readonly end: number }
  | PipeNode;

/** `.A.B`. */
export interface FieldOperand {
  readonly kind: 'field';
  readonly names: readonly string[];
  readonly offset: number;
  readonly end: number;
  /** Where the second name stands, if there is one: what Go's messages point at. */
  readonly position?: number;
}

/** `$x.A`. */
export interface VariableOperand extends Omit<FieldOperand, 'kind'> {
  readonly kind: 'variable';
  readonly slot: number;
}

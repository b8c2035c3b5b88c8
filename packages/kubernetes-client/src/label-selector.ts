import { BadRequest, own } from '@strongroom/engine-sdk';

const LONGEST = 16_384;
const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
type Operator = (typeof OPERATORS)[number];

type Labels = Readonly<Record<string, string>>;

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** A label selector of Kubernetes: all its requirements have to hold. */
export type LabelSelector = readonly Requirement[];

/** Where a selector is written. */
export interface SelectorField {
  readonly name: string;
  /** The field in which `*` selects every namespace. */
  readonly everywhere: string;
}

/** A reason of '' stands for a text that cannot be understood at all. */
type Refuse = (reason: string) => BadRequest;

/** A selector as JSON or YAML, with `matchLabels`, `matchExpressions` or both. @throws BadRequest that names the field */
export async function parseSelector(text: string, field: SelectorField): Promise<LabelSelector> {
  const refused: Refuse = (reason) => new BadRequest(`invalid "${field.name}" configured${reason === '' ? '' : `: ${reason}`}`);
  const { matchLabels, matchExpressions, ...others } = await parse(text, refused);
  const unknown = Object.keys(others);
  if (unknown.length > 0) throw refused(`${unknown[0]} is neither matchLabels nor matchExpressions`);
  const requirements = [...fromLabels(matchLabels, refused), ...fromExpressions(matchExpressions, refused)];
  if (requirements.length === 0)
    throw refused(`it has no requirements and would select every namespace; write "*" into ${field.everywhere} for that`);
  return requirements;
}

export function selects(selector: LabelSelector, labels: Labels): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = own(labels, key);
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
    }
  });
}

/** YAML holds JSON. */
async function parse(text: string, refused: Refuse): Promise<Record<string, unknown>> {
  if (text.length > LONGEST) throw refused(`it is longer than ${LONGEST} characters`);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  let value: unknown;
  try {
    if (document.errors.length === 0) value = document.toJS({ maxAliasCount: 0 });
  } catch {
    // Answered below.
  }
  if (!isRecord(value)) throw refused('');
  return value;
}

function fromLabels(value: unknown, refused: Refuse): Requirement[] {
  if (value === undefined || value === null) return [];
  if (!isRecord(value)) throw refused('matchLabels is not an object of labels');
  return Object.entries(value).map(([key, label]) => {
    if (typeof label !== 'string') throw refused(`the value of the label ${key} is not a text; put it in quotes`);
    return { key, operator: 'In', values: [label] };
  });
}

function fromExpressions(value: unknown, refused: Refuse): Requirement[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw refused('matchExpressions is not a list');
  return value.map((one: unknown) => {
    const { key, operator, values = [] } = isRecord(one) ? one : {};
    if (typeof key !== 'string' || key === '') throw refused('an entry of matchExpressions has no key');
    if (!isOperator(operator)) throw refused(`the operator of ${key} is none of ${OPERATORS.join(', ')}`);
    if (!Array.isArray(values) || !values.every((label) => typeof label === 'string'))
      throw refused(`values of ${key} is not a list of texts`);
    const compares = operator === 'In' || operator === 'NotIn';
    if (compares !== values.length > 0) throw refused(`${operator} of ${key} ${compares ? 'needs values' : 'takes no values'}`);
    return { key, operator, values };
  });
}

function isOperator(value: unknown): value is Operator {
  return (OPERATORS as readonly unknown[]).includes(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type { HclBody, HclBool, HclItem, HclList, HclNull, HclNumber, HclObject, HclPosition, HclString, HclValue } from './ast.ts';
export { HCL_MAX_DEPTH, parseHcl } from './parser.ts';
export type { HclOptions } from './parser.ts';
export { toPlain } from './plain.ts';
export type { HclPlain } from './plain.ts';
export { HclSyntaxError } from './syntax-error.ts';
export { requireUniqueKeys } from './unique-keys.ts';

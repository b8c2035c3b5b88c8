export { ExactNumber, toFloats } from './exact-number.ts';
export { JsonFault, JsonTooComplex } from './json-fault.ts';
export { JsonReader, NO_JSON_LIMITS, type JsonLimits } from './json-reader.ts';
export { isPlainJson } from './plain-json.ts';
export { readJson, readStoredJson } from './read-json.ts';
export { writeJson, writeStoredJson } from './write-json.ts';
export { leastJsonLength, writeStoredJsonInTurns } from './write-in-turns.ts';

export { consoleFiles } from './console-files.ts';
export type { ConsoleFile } from './console-file.ts';

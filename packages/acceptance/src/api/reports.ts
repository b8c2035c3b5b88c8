import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from '@microsoft/api-extractor';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** Packages that others build on: what they export is promised. */
const PROMISED = /^(?:core|http|.*-sdk|.*-testkit)$/;

/** What can be imported of a package: `@strongroom/engine-sdk`, or `@strongroom/engine-sdk/json`. */
export interface Entry {
  /** The folder of the package. */
  readonly folder: string;
  /** `engine-sdk`, or `engine-sdk.json`. */
  readonly name: string;
  /** Its built declarations: `./dist/index.d.ts`. */
  readonly types: string;
}

export const promisedEntries: readonly Entry[] = readdirSync(join(ROOT, 'packages'))
  .filter((folder) => PROMISED.test(folder) && existsSync(join(ROOT, 'packages', folder, 'package.json')))
  .flatMap(entriesOf);

function entriesOf(folder: string): Entry[] {
  const text = readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8');
  const { exports } = JSON.parse(text) as { readonly exports: Readonly<Record<string, string | { readonly types: string }>> };
  // What has no types of its own is no code, such as package.json.
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [{ folder, name: path === '.' ? folder : `${folder}.${path.slice('./'.length)}`, types: target.types }],
  );
}

/** Where the report of an entry is committed. */
export function reportOf({ folder, name }: Entry): string {
  return join(ROOT, 'packages', folder, `${name}.api.md`);
}

/** Writes the report of an entry, as its built declarations have it, into `target`. @returns its text. @throws Error naming what cannot be analysed */
export function writeReport({ folder, name, types }: Entry, target: string): string {
  const silent = { logLevel: ExtractorLogLevel.None };
  const configObject: IConfigFile = {
    projectFolder: join(ROOT, 'packages', folder),
    mainEntryPointFilePath: types.replace(/^\./, '<projectFolder>'),
    compiler: {
      overrideTsconfig: {
        compilerOptions: { target: 'es2023', lib: ['es2023'], module: 'nodenext', strict: true, skipLibCheck: true, types: ['node'] },
        include: [types],
      },
    },
    apiReport: {
      enabled: true,
      reportFolder: target,
      reportTempFolder: join(target, 'temp'),
      reportFileName: `${name}.api.md`,
      includeForgottenExports: true,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    newlineKind: 'lf',
    messages: {
      extractorMessageReporting: {
        default: { logLevel: ExtractorLogLevel.Error },
        'ae-missing-release-tag': silent,
        'ae-undocumented': silent,
        // The report shows types that are used and not exported as well.
        'ae-forgotten-export': silent,
      },
      tsdocMessageReporting: { default: silent },
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
    },
  };
  const packageJsonFullPath = join(ROOT, 'packages', folder, 'package.json');
  const problems: string[] = [];
  Extractor.invoke(ExtractorConfig.prepare({ configObject, configObjectFullPath: undefined, packageJsonFullPath }), {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) problems.push(message.formatMessageWithLocation(ROOT));
      message.handled = true;
    },
  });
  if (problems.length > 0) throw new Error(`${name}: ${problems.join('\n')}`);
  return readFileSync(join(target, `${name}.api.md`), 'utf8');
}

/** The exported names of a report that have no docstring; a value and a type of one name share theirs. */
export function undocumented(report: string): string[] {
  const documented = new Set(
    [...report.matchAll(/^\/\/ @\w+\n(?:\/\/.*\n)*export (?:declare )?(?:abstract )?\w+ (\w+)/gm)].map(([, name]) => name),
  );
  const bare = report.matchAll(/^\/\/ @\w+ \(undocumented\)\n(?:\/\/.*\n)*export (?:declare )?(?:abstract )?\w+ (\w+)/gm);
  return [...bare].flatMap(([, name]) => (documented.has(name) ? [] : [name!]));
}

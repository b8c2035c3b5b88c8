import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from '@microsoft/api-extractor';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** Packages that others build on: what they export is promised. */
const PROMISED = /^(?:core|http|.*-sdk|.*-testkit)$/;

export const promisedPackages: readonly string[] = readdirSync(join(ROOT, 'packages')).filter(
  (name) => PROMISED.test(name) && existsSync(join(ROOT, 'packages', name, 'package.json')),
);

/** Where the report of a package is committed. */
export function reportOf(name: string): string {
  return join(ROOT, 'packages', name, `${name}.api.md`);
}

/** Writes the report of a package, as its built declarations have it, into the folder. @returns its text. @throws Error naming what cannot be analysed */
export function writeReport(name: string, folder: string): string {
  const silent = { logLevel: ExtractorLogLevel.None };
  const configObject: IConfigFile = {
    projectFolder: join(ROOT, 'packages', name),
    mainEntryPointFilePath: '<projectFolder>/dist/index.d.ts',
    compiler: {
      overrideTsconfig: {
        compilerOptions: { target: 'es2023', lib: ['es2023'], module: 'nodenext', strict: true, skipLibCheck: true, types: ['node'] },
        include: ['dist/index.d.ts'],
      },
    },
    apiReport: {
      enabled: true,
      reportFolder: folder,
      reportTempFolder: join(folder, 'temp'),
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
  const packageJsonFullPath = join(ROOT, 'packages', name, 'package.json');
  const problems: string[] = [];
  Extractor.invoke(ExtractorConfig.prepare({ configObject, configObjectFullPath: undefined, packageJsonFullPath }), {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) problems.push(message.formatMessageWithLocation(ROOT));
      message.handled = true;
    },
  });
  if (problems.length > 0) throw new Error(`${name}: ${problems.join('\n')}`);
  return readFileSync(join(folder, `${name}.api.md`), 'utf8');
}

/** The exported names of a report that have no docstring; a value and a type of one name share theirs. */
export function undocumented(report: string): string[] {
  const documented = new Set(
    [...report.matchAll(/^\/\/ @\w+\n(?:\/\/.*\n)*export (?:declare )?(?:abstract )?\w+ (\w+)/gm)].map(([, name]) => name),
  );
  const bare = report.matchAll(/^\/\/ @\w+ \(undocumented\)\n(?:\/\/.*\n)*export (?:declare )?(?:abstract )?\w+ (\w+)/gm);
  return [...bare].flatMap(([, name]) => (documented.has(name) ? [] : [name!]));
}

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** An interpreter that has hvac; undefined where there is none. */
export const python = process.env['STRONGROOM_PYTHON'];
export const hvacMissing = python === undefined ? 'hvac is not installed; npm test installs it' : undefined;

/** Runs a script of this folder. Resolves with what it prints. */
export function runPython(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  const file = fileURLToPath(new URL(`./${script}`, import.meta.url));
  return new Promise((resolve, reject) => {
    execFile(python!, [file], { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${stdout}\n${stderr}`));
      else resolve(stdout);
    });
  });
}

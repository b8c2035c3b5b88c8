import type { AnyPath, Engine, EnginePackage } from '@strongroom/engine-sdk';

/** `sys/`: its paths are put together by the core, which has the rooms they speak for. */
export function systemEngine(
  paths: () => readonly AnyPath[],
  hooks: () => Pick<Engine, 'schedules' | 'failing' | 'system'> = () => ({}),
): EnginePackage {
  return { name: 'system', kind: 'secret', apiVersion: 2, create: () => ({ paths: paths(), ...hooks() }) };
}

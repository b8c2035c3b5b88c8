import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { refusedAsAbsent, type AbsentPlugin } from '../../services/plugins/absent-plugin.ts';

/** The places below `sys/` of engines that are not installed: every call says which package brings them. */
export function absentEnginePaths(absent: readonly AbsentPlugin[]): AnyPath[] {
  return absent.flatMap((plugin) => {
    if (!plugin.system) return [];
    const refuse = async (): Promise<never> => {
      throw new BadRequest(refusedAsAbsent(plugin).reason);
    };
    const summary = `Refuses: ${plugin.package} is not installed`;
    return path(`${plugin.system.path.slice('sys/'.length)}{path:all}`, {
      synopsis: `The place of the ${plugin.name} engine, which is not installed.`,
      description: `Install ${plugin.package} to use it.`,
      fields: { path: f.name('Any path of the engine.') },
      arbitraryData: true,
    })
      .read({ summary, response: NoContent, handle: refuse })
      .list({ summary, response: NoContent, handle: refuse })
      .update({ summary, response: NoContent, handle: refuse })
      .delete({ summary, response: NoContent, handle: refuse });
  });
}

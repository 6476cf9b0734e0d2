import type { Translation } from '../texts';
import { cluster } from './cluster';
import { compare } from './compare';
import { components } from './components';
import { experiments } from './experiments';
import { graph } from './graph';
import { home } from './home';
import { logs } from './logs';
import { metrics } from './metrics';
import { newRun } from './newRun';
import { outputs } from './outputs';
import { palette } from './palette';
import { pipelines } from './pipelines';
import { run } from './run';
import { runs } from './runs';
import { scaling } from './scaling';
import { schedules } from './schedules';
import { settings } from './settings';
import { shell } from './shell';

/** 简体中文 */
export const zhCN: Translation = {
  ...shell,
  ...cluster,
  ...compare,
  ...components,
  ...experiments,
  ...graph,
  ...home,
  ...logs,
  ...metrics,
  ...newRun,
  ...outputs,
  ...palette,
  ...pipelines,
  ...run,
  ...runs,
  ...scaling,
  ...schedules,
  ...settings,
};

import {
  AntdCreateInferencer,
  AntdEditInferencer,
  AntdListInferencer,
  AntdShowInferencer,
} from '@refinedev/inferencer/antd';

import type { RefinePage } from './page.js';

export const inferredPages: Record<string, RefinePage> = {
  Inferencer: {
    list: <AntdListInferencer />,
    create: <AntdCreateInferencer />,
    edit: <AntdEditInferencer />,
    show: <AntdShowInferencer />,
  },
};

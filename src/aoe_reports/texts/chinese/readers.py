"""What reading says: damage in files, forms that are not known."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    # errors: what the operating system says
    "Bad file descriptor": "文件描述符无效",
    "Device or resource busy": "设备或资源忙",
    "Directory not empty": "目录非空",
    "Disk quota exceeded": "超出磁盘配额",
    "File exists": "文件已存在",
    "File name too long": "文件名过长",
    "File too large": "文件过大",
    "Input/output error": "输入/输出错误",
    "Invalid argument": "参数无效",
    "Is a directory": "是一个目录",
    "No space left on device": "磁盘空间不足",
    "No such file or directory": "没有该文件或目录",
    "No such device or address": "没有该设备或地址",
    "Not a directory": "不是目录",
    "Operation not permitted": "不允许该操作",
    "Permission denied": "权限不足",
    "Read-only file system": "文件系统只读",
    "Resource temporarily unavailable": "资源暂时不可用",
    "Stale file handle": "文件句柄已失效",
    "Too many levels of symbolic links": "符号链接层数过多",
    "Too many open files": "打开的文件过多",
    "Transport endpoint is not connected": "传输端点未连接",
    # schemas
    "schema {name!r} is not part of this installation; expected in {folder}": (
        "当前安装中没有 schema {name!r}；应位于 {folder}"
    ),
    # bank
    "at most {limit} bytes are read; this is larger": "最多读取 {limit} 字节；该文件更大",
    # configuration
    "no such threshold{hint}": "没有该阈值{hint}",
    "stands twice": "重复出现",
    "expected a whole number, not {value!r}": "应为整数，而不是 {value!r}",
    "expected a number of 0 or more, not {value!r}": "应为不小于 0 的数，而不是 {value!r}",
    "expected a number above 0; without the key there is none": "应为大于 0 的数；不写该键即表示没有此阈值",
    "no such file": "没有该文件",
    "has no table [{table}]": "没有表 [{table}]",
    "--isolated goes without a configuration file": "--isolated 可不用配置文件",
    "more than {limit} bytes; that is no configuration": "超过 {limit} 字节；这不是配置文件",
    "not UTF-8": "不是 UTF-8",
    "expected a table": "应为表 (table)",
    "a key of more than {count} parts": "键的层级超过 {count}",
    "not TOML: {why}": "不是 TOML：{why}",
    "nested too deeply": "嵌套过深",
    "expected a number, not {value!r}": "应为数字，而不是 {value!r}",
    "; did you mean {name}?": "；是否指 {name}？",
    "; known: {names}": "；可用的有：{names}",
    # database.analysis
    "{column} is longer than anything can take": "{column} 超出可能的时长",
    "{column}: {count} values that name no step; these cells are empty in the table": (
        "{column}：{count} 个值不是 step；这些单元格在表中为空"
    ),
    # database.counters
    "{column}: the id {id} stands for no word; that counter is left out": (
        "{column}：id {id} 没有对应的名称；该计数器未采用"
    ),
    # database.events
    "endNs is before startNs or farther from it than anything can take": "endNs 早于 startNs，或两者相差超出可能的时长",
    "{table}: {count} rows whose globalTaskId no usable row of TASK has; they are left out": (
        "{table}：{count} 行的 globalTaskId 在 TASK 的可用行中不存在；这些行未采用"
    ),
    # database.reader
    "nothing of it is used": "其内容均未采用",
    "TASK (with STRING_IDS)": "TASK（连同 STRING_IDS）",
    "no usable table {table} here; what it would tell is missing": "此处没有可用的表 {table}；缺少它所提供的信息",
    "no row of {kind} is used": "{kind} 的行均未采用",
    "a readable database": "可读的数据库",
    "no event of it is used": "其事件均未采用",
    "the database cannot be read: {why}; {effect}": "无法读取数据库：{why}；{effect}",
    "it never holds {kind}": "其中不会有 {kind}",
    "no table {table}": "没有表 {table}",
    "no column {column} in table {table}": "表 {table} 中没有列 {column}",
    "its words are longer than 2 GiB together": "其中的字符串合计超过 2 GiB",
    # database.series
    "endNs is farther from startNs than anything can take": "endNs 与 startNs 相差超出可能的时长",
    # database.source
    "{column}: {count} points in time are floating point and have lost their last digits": (
        "{column}：{count} 个时间点是浮点数，末几位已丢失"
    ),
    "{table}: {count} rows whose {what}; they are left out": "{table}：有 {count} 行，其 {what}；这些行未采用",
    "{column}: {count} ids that {table} does not know; those cells are empty in the table": (
        "{column}：{count} 个 id 在 {table} 中不存在；这些单元格在表中为空"
    ),
    (
        "no usable table {table} here: what the {count} ids of {column} stand for is not known, those cells are "
        "empty in the table"
    ): "此处没有可用的表 {table}：{column} 的 {count} 个 id 代表什么无从得知，这些单元格在表中为空",
    (
        "{count} files of MindSpore's own profiler ({kinds}), which are no exports of msprof: recognised, but not "
        "read; no result uses them"
    ): "{count} 个 MindSpore 自有性能分析工具的文件（{kinds}），并非 msprof 的导出：已识别，但不读取；没有任何结果使用它们",
    "nothing here that is read": "此处没有可读取的内容",
    "table {table}: {why}": "表 {table}：{why}",
    "{column}: {count} values that are no {kind}, the first {value!r} in the row with rowid {row}; {effect}": (
        "{column}：{count} 个值不是{kind}，第一个是 rowid 为 {row} 的行中的 {value!r}；{effect}"
    ),
    "numbers": "数字",
    "whole numbers": "整数",
    "these rows are left out": "这些行未采用",
    "these cells are empty in the table": "这些单元格在表中为空",
    "{column}: {count} rows without a value, the first is row {row}; they are left out": (
        "{column}：{count} 行没有值，第一个是第 {row} 行；这些行未采用"
    ),
    "database disk image is malformed": "数据库文件已损坏",
    "disk I/O error": "磁盘 I/O 错误",
    "file is not a database": "文件不是数据库",
    "out of memory": "内存不足",
    "string or blob too big": "字符串或 blob 过大",
    "unable to open database file": "无法打开数据库文件",
    "unsupported file format": "不支持的文件格式",
    "the names in it are not UTF-8": "其中的名称不是 UTF-8",
    "a readable database was expected": "应为可读的数据库",
    "the file is empty": "文件为空",
    "this is no SQLite database": "这不是 SQLite 数据库",
    "the file is cut off: {size} of {whole} bytes": "文件被截断：{whole} 字节中只有 {size} 字节",
    "{name} stands beside it and was not written back: what stands there is not read": (
        "旁边有 {name}，尚未写回：其中的内容不读取"
    ),
    # database.statistics
    "the type of a call": "调用的类型",
    # database.tasks
    "{table}: {count} rows whose globalTaskId stands before; they are left out": (
        "{table}：{count} 行的 globalTaskId 前面已出现过；这些行未采用"
    ),
    # digest
    "{expected} was expected": "应为{expected}",
    # discovery
    "no msprof, torch_npu or AOE file here; expected exports (op_summary*.csv, kernel_details.csv, …) "
    "or aoe_result_*.json": (
        "此处没有 msprof、torch_npu 或 AOE 的文件；应有导出的文件（op_summary*.csv、kernel_details.csv 等）"
        "或 aoe_result_*.json"
    ),
    "{what}; expected a file or a folder": "{what}；应为文件或目录",
    "this link leads to a folder that holds it; not followed": "该链接指向包含它的目录；不跟随",
    "more than {limit} folders below one another; what lies here is not read": "目录嵌套超过 {limit} 层；此处的内容未读取",
    "more than {limit} files and folders behind links that lead out of {path}; the rest is not read (give the folder itself)": (
        "通向 {path} 之外的链接之后有超过 {limit} 个文件和目录；其余未读取（请直接给出该目录）"
    ),
    "parts of this file were never written (a sparse file: cut off, or preallocated); nothing of it is used": (
        "该文件有一部分从未写入（稀疏文件：被截断或预分配）；其内容均未采用"
    ),
    "this link leads to a folder that is read already; passed over": "该链接指向已读取的目录；已跳过",
    "named like a file that is read here, but a folder; what is in it is read": (
        "名称与此处读取的文件相同，却是目录；读取其中的内容"
    ),
    "named like a file that is read here, but {what}; passed over": "名称与此处读取的文件相同，但{what}；已跳过",
    "this link leads nowhere or in a circle; passed over": "该链接失效或循环；已跳过",
    "neither a file nor a folder (a pipe or a device)": "既不是文件也不是目录（是管道或设备）",
    "this link leads nowhere or in a circle": "该链接失效或循环",
    "no such file or folder": "没有该文件或目录",
    "the folder cannot be read: {why}": "无法读取目录：{why}",
    # documents
    "an export of {kind}": "导出的 {kind}",
    "{step}, {type}: the operators take {sum:.3f} us, {total!r} says {told:.3f} us": (
        "{step}，{type}：各算子合计 {sum:.3f} 微秒，{total!r} 为 {told:.3f} 微秒"
    ),
    "an object": "对象",
    "expected {expected} here; it is left out": "此处应为{expected}；未采用",
    "an operator with a {name!r}": "带有 {name!r} 的算子",
    "an operator with its group (name@group) or {total!r}": "带有通信域的算子 (name@group) 或 {total!r}",
    "an object under '<rank>-<rank>'": "'<rank>-<rank>' 下的对象",
    "an object with a list a section": "每个部分各含一个列表的对象",
    "a rule with its results": "带有结果的规则",
    # expand
    "a readable .gz file was expected": "应为可读的 .gz 文件",
    "this cannot be expanded ({error}); nothing of it is used": "无法解压（{error}）；其内容均未采用",
    "expands to more than {limit} bytes; nothing of it is used (--max-expanded BYTES says how many it may be)": (
        "解压后超过 {limit} 字节；其内容均未采用（--max-expanded BYTES 指定允许的字节数）"
    ),
    "expands to more than {ratio} times its size, as no export does; nothing of it is used (--max-expanded BYTES says how many it may be)": (
        "解压后超过其大小的 {ratio} 倍，导出文件不会如此；其内容均未采用（--max-expanded BYTES 指定允许的字节数）"
    ),
    "the compressed file ends before its content does; nothing of it is used": (
        "压缩文件在内容结束之前就结束了；其内容均未采用"
    ),
    # identify
    "an archive is not read; unpack it first (of single files, .csv.gz and .json.gz are read as they are)": (
        "不读取归档文件；请先解包（单个文件的 .csv.gz 和 .json.gz 可直接读取）"
    ),
    "{why}; passed over": "{why}；已跳过",
    "{why}; files and folders are read": "{why}；只读取文件和目录",
    "the file cannot be read: {why}": "无法读取文件：{why}",
    "neither its name nor its content is of a kind that is known here; see `aoe-reports table --list`": (
        "其名称和内容都不属于已知的类型；见 `aoe-reports table --list`"
    ),
    # json_summary
    "{size} bytes; at most {limit} are read": "{size} 字节；最多读取 {limit} 字节",
    "the file is empty; expected {expected}": "文件为空；应为{expected}",
    "the document is null; expected {expected}": "文档为 null；应为{expected}",
    "the text ends before the document does ({error}); nothing of it is used": (
        "文本在文档结束之前就结束了（{error}）；其内容均未采用"
    ),
    "{error}; which of them is right cannot be told: nothing of it is used": "{error}；无法判断哪个正确：其内容均未采用",
    "not JSON: {why}; nothing of it is used": "不是 JSON：{why}；其内容均未采用",
    "not UTF-8; read as GB18030": "不是 UTF-8；按 GB18030 读取",
    "a list of rows": "由行组成的列表",
    "expected a list of rows (objects with the table's headers as keys); nothing of it is used": (
        "应为由行组成的列表（以表头为键的对象）；其内容均未采用"
    ),
    "this row has not the keys of the first one; it is left out": "该行的键与第一行不同；未采用",
    "a number": "数字",
    "{column}: no value; the row is left out": "{column}：没有值；该行未采用",
    # json_text: what the parser says
    "expected {mark}": "应为 {mark}",
    "expected {mark} or {other}": "应为 {mark} 或 {other}",
    "EOF while parsing a list": "列表未结束，文本已结束",
    "EOF while parsing an object": "对象未结束，文本已结束",
    "EOF while parsing a string": "字符串未结束，文本已结束",
    "EOF while parsing a value": "此处应有值，文本已结束",
    "expected ident": "应为 true、false 或 null",
    "expected value": "应为值",
    "invalid escape": "转义无效",
    "invalid number": "数字无效",
    "number out of range": "数字超出范围",
    "invalid unicode code point": "Unicode 码点无效",
    "control character (\\u0000-\\u001F) found while parsing a string": "字符串中有控制字符 (\\u0000-\\u001F)",
    "key must be a string": "键必须是字符串",
    "lone leading surrogate in hex escape": "十六进制转义中只有半个代理对",
    "trailing comma": "末尾多了逗号",
    "trailing characters": "末尾有多余的字符",
    "unexpected end of hex escape": "十六进制转义不完整",
    "recursion limit exceeded": "嵌套过深",
    "{what} at line {line} column {column}": "{what}（第 {line} 行第 {column} 列）",
    "Detected duplicate key {key}": "键 {key} 重复出现",
    # json_text: what people and programs write that is no JSON
    "'{text}' is not JSON (an ellipsis of a document?)": "'{text}' 不是 JSON（文档中的省略号？）",
    "{text} is no JSON number": "{text} 不是 JSON 的数字",
    "{text} is not JSON; it has true, false and null": "{text} 不是 JSON；JSON 只有 true、false 和 null",
    "'{text}': JSON has no comments": "'{text}'：JSON 没有注释",
    "{text} is no quotation mark of JSON: a text stands in double quotes": "{text} 不是 JSON 的引号：字符串要用双引号",
    "{text} is no quotation mark of JSON: a text stands in plain double quotes": (
        "{text} 不是 JSON 的引号：字符串要用半角双引号"
    ),
    "{text} is no JSON number: it has leading zeros": "{text} 不是 JSON 的数字：开头有多余的 0",
    "{text} is no JSON number: it has a leading '+'": "{text} 不是 JSON 的数字：开头有 '+'",
    "{text} is no JSON number: no digit before the '.'": "{text} 不是 JSON 的数字：'.' 之前没有数字",
    "{text} is no JSON number: no digit behind the '.'": "{text} 不是 JSON 的数字：'.' 之后没有数字",
    "the key '{text}' has to stand in double quotes": "键 '{text}' 要写在双引号中",
    "'{text}' is no JSON value; a text stands in double quotes": "'{text}' 不是 JSON 的值；字符串要写在双引号中",
    # json_text: what is wrong, in words
    "a '\"' inside of a text is written '\\\"'": "字符串中的 '\"' 要写成 '\\\"'",
    "a number of a size that is not read": "数字过大，不能读取",
    "'{character}' (U+{code:04X}) is not JSON; '{plain}' is": "'{character}' (U+{code:04X}) 不是 JSON；应为 '{plain}'",
    "{text} is not JSON": "{text} 不是 JSON",
    "nothing is wrong: the document ends here": "没有错误：文档在此结束",
    "the text ends inside of a value": "文本在一个值的中间结束",
    "the text ends before a document begins": "文本在文档开始之前就结束了",
    "the text ends here; not closed: the '{bracket}' of line {line}, column {column}": (
        "文本在此结束；第 {line} 行第 {column} 列的 '{bracket}' 未闭合"
    ),
    "the text ends here; not closed: {number} brackets, the innermost a '{bracket}' of line {line}, column {column}": (
        "文本在此结束；{number} 个括号未闭合，最内层是第 {line} 行第 {column} 列的 '{bracket}'"
    ),
    "the text ends inside of the string that begins in line {line}, column {column}": (
        "文本在第 {line} 行第 {column} 列开始的字符串中间结束"
    ),
    "a line break in a string: its '\"' is missing, or it is written '\\n'": (
        "字符串中有换行：缺少 '\"'，或换行应写成 '\\n'"
    ),
    "'{text}' is half of a pair of surrogates: no character": "'{text}' 是半个代理对：不是字符",
    "'\\u' takes four hexadecimal digits": "'\\u' 之后要有四个十六进制数字",
    "'\\' and {text} are no escape of JSON; a backslash is written '\\\\'": (
        "'\\' 加 {text} 不是 JSON 的转义；反斜杠要写成 '\\\\'"
    ),
    "{text} in a string": "字符串中有{text}",
    "a bare control character ({character}) in a string; it is written '\\u{code:04x}'": (
        "字符串中有未转义的控制字符（{character}）；要写成 '\\u{code:04x}'"
    ),
    "{marks} missing before a member: {where}": "成员之前缺少 {marks}：{where}",
    "{mark} missing: a member stands outside of an object": "缺少 {mark}：成员在对象之外",
    "no key before ':'": "':' 之前没有键",
    "the '{bracket}' of line {line}, column {column} is not closed": "第 {line} 行第 {column} 列的 '{bracket}' 未闭合",
    "a '{mark}' too many": "多了一个 '{mark}'",
    "no value after ':'": "':' 之后没有值",
    "neither ':' nor a value after the key": "键之后既没有 ':' 也没有值",
    "brackets nested deeper than {deepest}": "括号嵌套超过 {deepest} 层",
    "':' missing between a key and its value": "键和值之间缺少 ':'",
    "a value without a key in an object": "对象中有没有键的值",
    "',' missing between two elements": "两个元素之间缺少 ','",
    "',' missing between two members": "两个成员之间缺少 ','",
    "a second value behind the value of a member": "成员的值之后还有第二个值",
    "a ',' too many before '{bracket}'": "'{bracket}' 之前多了一个 ','",
    "'{bracket}' where '{other}' belongs: {where}": "'{bracket}' 处应为 '{other}'：{where}",
    "'{other}' missing before '{bracket}': {where}": "'{bracket}' 之前缺少 '{other}'：{where}",
    "a ',' behind the document": "文档之后有 ','",
    "a second document behind the first": "第一个文档之后还有第二个文档",
    "byte 0x{code:02x}, which is not UTF-8,": "不是 UTF-8 的字节 0x{code:02x}",
    # profile
    "a newer export of {kind} is used": "采用更新的 {kind} 导出文件",
    "another export of {kind} is used; this file beside it is left out (a copy?)": (
        "采用另一个 {kind} 导出文件；旁边的这个文件未采用（是副本？）"
    ),
    "slice {numbers} of {kind} is not there: its rows are missing": "没有 {kind} 的分片 {numbers}：缺少其中的行",
    "this info file cannot be read as JSON; what it would say (rank, time) is not known": (
        "该 info 文件不能按 JSON 读取；其中的信息（rank、时间）未知"
    ),
    # ragged
    "a comma in {name!r}, which the exporter did not quote; put together again": (
        "{name!r} 中有逗号，导出工具未加引号；已重新合并"
    ),
    "the exporter filled up missing reduces with too few N/A; read as missing ones": (
        "导出工具为缺失的 reduce 补的 N/A 过少；按缺失读取"
    ),
    # records
    "{error}; a record has each key once": "{error}；每个键在一条记录中只能出现一次",
    "not JSON: {why}": "不是 JSON：{why}",
    "the text ends before the document does": "文本在文档结束之前就结束了",
    # results
    "not a file": "不是文件",
    "an AOE result file was expected": "应为 AOE 的结果文件",
    "task": "任务",
    "the file is empty; nothing of it is used": "文件为空；没有可采用的内容",
    "not JSON: {why}; nothing of this file is used": "不是 JSON：{why}；本文件的内容均未采用",
    "the text ends before the document does (still being written, or cut off); what is whole up to there is read; "
    "no number of the unfinished {part} is used": (
        "文本在文档结束之前就结束了（仍在写入，或被截断）；此前完整的内容已读取；未完成的{part}中的数字均未采用"
    ),
    "the key {key!r} stands more than once in one object; all are read (no number is used of a task inside of "
    "which it does)": "键 {key!r} 在一个对象中多次出现；全部读取（出现重复键的任务中的数字均未采用）",
    "and {count} more keys that stand more than once": "另有 {count} 个键多次出现",
    # summary
    "a readable CSV file was expected": "应为可读的 CSV 文件",
    "the header cannot be taken apart ({error})": "无法解析表头（{error}）",
    "a line of cells was expected": "应为一行单元格",
    "the first line holds no header": "第一行没有表头",
    "{what}; expected the header of {table}": "{what}；应为 {table} 的表头",
    "the bytes are neither UTF-8 nor GB18030; nothing of this file is used": (
        "字节既不是 UTF-8 也不是 GB18030；本文件的内容均未采用"
    ),
    "a NUL byte stands here, as after a crash: what it took the place of is lost, words may be others": (
        "此处有 NUL 字节，如同崩溃之后：被它取代的内容已丢失，文字可能有误"
    ),
    "this cannot be taken apart into rows (one longer than 1 MiB?); nothing of this file is used": (
        "无法分解成行（有一行超过 1 MiB？）；本文件的内容均未采用"
    ),
    "no row of this file is used": "本文件的行均未采用",
    "the first one is used": "采用第一个",
    "{column!r}: no exporter writes this column in this unit (or not beside the others); no row of this file is used": (
        "{column!r}：没有导出工具用该单位写这一列（或不与其他列同用）；本文件的行均未采用"
    ),
    "{column!r} is not known; is it {near!r}, which is not here?": "{column!r} 未知；是否为此处缺少的 {near!r}？",
    "{column!r} stands in the header a second time; which of them is right cannot be told: {effect}": (
        "{column!r} 在表头中重复出现；无法判断哪个正确：{effect}"
    ),
    "{column!r} stands behind columns that every {table} has behind it; "
    "read by its name, but check that nobody swapped headers": (
        "{column!r} 排在了 {table} 中本应在它之后的列的后面；按名称读取，但请检查表头是否被调换"
    ),
    "; is it {near!r} (column {place})?": "；是否为 {near!r}（第 {place} 列）？",
    "no column {column!r} in the header of {count} columns, which every {table} has{hint}; "
    "no row of this file is used": "共 {count} 列的表头中没有 {table} 必有的列 {column!r}{hint}；本文件的行均未采用",
    "the file ends in the middle of a row (no line end); that row is left out, later ones are missing": (
        "文件在一行的中间结束（没有换行符）；该行未采用，其后的行缺失"
    ),
    "the file does not end with a line end; its last row is whole and used, later ones may be missing": (
        "文件末尾没有换行符；最后一行完整并已采用，其后可能缺行"
    ),
    (
        "the file ends in the middle of a cell ({column}; no line end); the cell is empty in the table, the rest of "
        "the row is used, later ones are missing"
    ): "文件在一个单元格（{column}）的中间结束（没有换行符）；该单元格在表中为空，该行其余部分已采用，其后的行缺失",
    (
        "the file does not end with a line end; nothing tells whether its last cell ({column}) is whole: it is empty in "
        "the table, the rest of the row is used, later ones may be missing"
    ): "文件末尾没有换行符；无从判断最后一个单元格（{column}）是否完整：它在表中为空，该行其余部分已采用，其后可能缺行",
    "the row goes over {lines} lines (stray quotes?); all of them are left out": (
        "该行跨越 {lines} 行（有多余的引号？）；均未采用"
    ),
    "the row has {cells} cells, the header {columns}; the row is left out; "
    "an open quote swallows what follows on the next lines": (
        "该行有 {cells} 个单元格，表头有 {columns} 个；该行未采用；未闭合的引号吞掉了后面几行的内容"
    ),
    "the row has {cells} cells, the header {columns}; the row is left out": (
        "该行有 {cells} 个单元格，表头有 {columns} 个；该行未采用"
    ),
    "the row is left out": "该行未采用",
    "the cell is empty in the table": "该单元格在表中为空",
    "{column}: {value!r} is not {kind}; {effect}": "{column}：{value!r} 不是{kind}；{effect}",
    "{column}: {value!r} is a negative difference that wrapped around 2**64; the cell is empty in the table": (
        "{column}：{value!r} 是绕回 2**64 的负差值；该单元格在表中为空"
    ),
    "a whole number of 63 bits": " 63 位以内的整数",
    "a plausible length of time": "合理的时长",
    "and {count} more rows mended in the same way": "另有 {count} 行以同样的方式修复",
    "and {count} more of this kind from here on, all left out": "从此处起另有 {count} 个同类问题，均未采用",
    # timelines.events
    "{count} events of phase {phase!r}, which no profiler writes": "{count} 个事件的 phase 为 {phase!r}，没有采集工具会这样写",
    "it is not what it was a moment ago": "其内容刚刚发生了变化",
    "a file that nobody writes to": "应为无人写入的文件",
    "{count} events last longer together than 64 bits of nanoseconds hold; they are left out": (
        "{count} 个事件的时长合计超出 64 位纳秒；未采用"
    ),
    "{count} events are second copies of hccl tasks (Stage..Step..); sums leave them out": (
        "{count} 个事件是 hccl 任务的第二份副本 (Stage..Step..)；合计时不计入"
    ),
    # timelines.json_list
    "{what}; nothing of it is used": "{what}；其内容均未采用",
    "not a whole JSON document: {why}": "不是完整的 JSON 文档：{why}",
    "a timeline was expected": "应为时间线",
    "no element ends within {limit} bytes": "{limit} 字节内没有元素结束",
    "the file is empty; expected a list of events": "文件为空；应为事件的列表",
    "expected a list of trace events (with 'ph')": "应为 trace 事件的列表（带有 'ph'）",
    "it does not begin as UTF-8": "开头不是 UTF-8",
    "it does not begin as JSON": "开头不是 JSON",
    "NaN or Infinity is no JSON": "NaN 或 Infinity 不是 JSON",
    "no UTF-8": "不是 UTF-8",
    # timelines.rows
    "a timeline": "时间线",
    "an event without a 'cat'": "事件没有 'cat'",
    "a {category!r} without its iteration or dur (>= 0)": "{category!r} 没有迭代或 dur (>= 0)",
    "an iteration without number, ts or dur (>= 0)": "迭代没有编号、ts 或 dur (>= 0)",
    "an iteration whose {point!r} is no time": "迭代的 {point!r} 不是时间",
    "a task whose type is no text": "任务的类型不是文本",
    "a task without name, ts or dur (>= 0)": "任务没有名称、ts 或 dur (>= 0)",
    "no event with a 'ph'": "不是带有 'ph' 的事件",
    # timelines.walk
    "a 'name' that is no text": "'name' 不是文本",
    "a 'ts' that is no time": "'ts' 不是时间",
    "a 'dur' that is no duration (>= 0)": "'dur' 不是时长 (>= 0)",
    "a task without name, ts or dur": "任务没有名称、ts 或 dur",
    "{what}; the event is left out": "{what}；该事件未采用",
    "and {count} more events that cannot be used": "另有 {count} 个事件不能采用",
}

"""One Spark on this machine for all tests of it, and databases of Arrow tables in it."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

_NUMBERS = itertools.count(1)


class Absent(Exception):  # noqa: N818
    """There is no Spark on this machine, and why."""


def started() -> Lab:
    """Return Spark with two threads and a gigabyte, or say why there is none."""
    if importlib.util.find_spec("pyspark") is None:
        raise Absent("pyspark is not installed (pip install 'recuse[spark]')")
    if shutil.which("java") is None:
        raise Absent("there is no Java (apt-get install default-jre-headless)")
    if subprocess.run(["java", "-version"], capture_output=True, check=False).returncode:
        raise Absent("this Java does not run")
    return Lab(Path(tempfile.mkdtemp(prefix="recuse-spark-test-")))


class Lab:
    """A session of Spark in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        from pyspark.sql import SparkSession

        self.folder = folder
        builder = SparkSession.builder.master("local[2]").appName("recuse-tests")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "1g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.adaptive.enabled": "false",
        }.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def holding(self, tables: Mapping[str, pyarrow.Table], session: Any = None) -> Any:
        """Return a session whose database holds these tables, in Parquet files."""
        name = f"made_{next(_NUMBERS)}"
        session = self.session.newSession() if session is None else session
        session.sql(f"CREATE DATABASE {name}")
        session.sql(f"USE {name}")
        for table, rows in tables.items():
            place = self.folder / name / table
            place.mkdir(parents=True)
            pyarrow.parquet.write_table(rows, place / "part-0.parquet")
            columns = ", ".join(f"`{field.name}` {_spelled(field.type)}" for field in rows.schema)
            session.sql(f"CREATE TABLE `{table}` ({columns}) USING parquet LOCATION '{place.as_uri()}'")
        return session

    def stop(self) -> None:
        self.session.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _spelled(kind: pyarrow.DataType) -> str:
    if pyarrow.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pyarrow.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    names = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT", "float": "FLOAT"}
    names |= {"double": "DOUBLE", "bool": "BOOLEAN", "date32[day]": "DATE", "string": "STRING"}
    return names[str(kind)]

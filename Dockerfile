FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir '/src[demo]' \
  && useradd --create-home qwf \
  && install -d -o qwf /out
USER qwf
# Node modules of the example are found from here.
WORKDIR /src/examples
ENV PYTHONPATH=/src/examples
ENTRYPOINT ["qwf"]
